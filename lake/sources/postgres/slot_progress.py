"""Advance: for how long a connector that reads its slot has come no further."""

import time

from lake.sources.postgres.facts import Slot


class Advance:
    """How far the log was sent to the reader, confirmed by it, and is in Kafka, at the last look.

    A large transaction moves the first while PostgreSQL decodes it and the last while the connector reads it.
    """

    def __init__(self) -> None:
        self._places: tuple[int | None, ...] | None = None
        self._since = 0.0

    def still_s(self, slot: Slot | None, position: int) -> float:
        """Seconds since one of them moved; 0 while nobody reads the slot, as during a first snapshot.

        position: of the connector in the log, in bytes, as Kafka acknowledged it.
        """
        places = (slot.sent, slot.confirmed, position) if slot and slot.active else None
        if places is None or places != self._places:
            self._since = time.monotonic()
        self._places = places
        return time.monotonic() - self._since
