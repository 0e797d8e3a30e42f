"""The time since a connector that reads made progress."""

import time

from lake.sources.engine import CaptureFacts


class CaptureProgress:
    """The positions of a capture at the last inspection.

    Those of the source move while it decodes a large transaction, that of the connector while it reads one.
    """

    def __init__(self) -> None:
        self._positions: tuple[int | None, ...] | None = None
        self._since = 0.0

    def still_s(self, capture: CaptureFacts | None, position: int) -> float:
        """Seconds since one of them moved; 0 without a reader, as during a first snapshot.

        position: of the connector, as Kafka acknowledged it.
        """
        positions = (*capture.progress, position) if capture and capture.active else None
        if positions is None or positions != self._positions:
            self._since = time.monotonic()
        self._positions = positions
        return time.monotonic() - self._since
