"""A query that should run: how to start it, and what became of it."""

import logging
from typing import Any, Callable, Dict, Optional

from spark_jobs.hudi.table import HudiTable
from spark_jobs.kafka.lag import LagTracker
from spark_jobs.streaming.table_writer import TableWriter

LOG = logging.getLogger("stream")
RETRY_S = (1, 2, 5, 10, 30)  # a query that fails is started again after these, the last one for ever


class ManagedQuery:
    """spec: another one is another query. start: the running query; it sets `writer` where it writes a table."""

    def __init__(self, spec: Any, start: "Callable[[ManagedQuery], Any]") -> None:
        self.spec = spec
        self.writer: Optional[TableWriter] = None
        self.lag = LagTracker()
        self.query: Any = None
        self.failures = 0
        self.retry_at = 0.0
        self._start = start
        self._began_from: Dict[str, Any] = {}

    def begin(self) -> None:
        """Starts it, and remembers from where."""
        self.query = self._start(self)
        self._began_from = self._position()

    def end(self) -> None:
        """Stops it; nothing more is written by it."""
        if self.query is not None:
            self.query.stop()
        self.retire()

    def retire(self) -> None:
        """Nothing more is written through what was begun before."""
        if self.writer is not None:
            self.writer.retire()

    def failed(self, reason: str, now: float) -> None:
        """Puts the next start off: a table that can't go on must not load the others."""
        if self._position() != self._began_from:
            self.failures = 0
        wait = RETRY_S[min(self.failures, len(RETRY_S) - 1)]
        self.failures, self.retry_at, self.query = self.failures + 1, now + wait, None
        LOG.error("%s; next try in %d s", reason, wait)

    def idle(self) -> bool:
        """True if its last look found nothing to do."""
        return self._last.get("numInputRows") == 0

    def stuck(self) -> bool:
        """True if it failed, and waits for its next try."""
        return self.query is None and self.failures > 0

    def begins(self) -> bool:
        """True while its first batch runs."""
        return self.query is not None and not self._last

    @property
    def table(self) -> Optional[HudiTable]:
        """The table that the query writes; None for an archive, and before the first start."""
        return self.writer.table if self.writer is not None else None

    def reached(self) -> Dict[str, int]:
        """By partition, the next offset after what is committed, or was set aside or dropped with nothing to commit."""
        if self.table is None:
            return {}
        committed, sources = self.table.reached["offsets"], self._last.get("sources") or [{}]
        read = (sources[0].get("endOffset") or {}).get(self.table.source.topic, {})
        return {part: max(committed.get(part, 0), read.get(part, 0)) for part in {*committed, *read}}

    @property
    def _last(self) -> Dict[str, Any]:
        """Spark's report on its last batch, or look; {} before the first is over."""
        return (self.query.lastProgress if self.query is not None else None) or {}

    def _position(self) -> Dict[str, Any]:
        return self.table.position if self.table is not None else {}
