"""Guard: what stands between a batch and its table, so that a message that can't be applied is never skipped unseen."""

import logging
import threading
from typing import Any, Callable, Optional

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_jobs.events import schema_evolution, validate
from spark_jobs.events.toast_from_table import Unfillable
from spark_jobs.hudi.table import Oversized, SilverTable
from spark_jobs.kafka.messages import end_offsets
from spark_jobs.kafka.schema_registry import Registry
from spark_jobs.quarantine.table import Quarantine
from spark_jobs.runtime.pipeline import Table
from spark_jobs.runtime.status import Progress

LOG = logging.getLogger("guard")
STOP = "stop"  # on_bad_message of a table; the other is "quarantine"


class Poisoned(Exception):
    """A message that can't be applied; its table waits in front of it."""


class Retired(Exception):
    """The query of the table was started anew, and this guard writes no more."""


class Guard:
    """Writes the batches of one table; may_write raises when another job may write it.

    A batch is written as it is. Only one that fails is looked through: good ones pay nothing.
    """

    def __init__(
        self, silver: SilverTable, registry: Registry, quarantine: Quarantine, may_write: Callable[[], None]
    ) -> None:
        self.silver = silver
        self.registry = registry
        self._quarantine = quarantine
        self._may_write = may_write
        self._lock = threading.Lock()  # the query or a replay: what the table knows of itself is for one at a time
        self._retired = False

    @property
    def waiting(self) -> int:
        """How many messages were set aside, and are neither replayed nor dropped."""
        return self._quarantine.waiting(self.silver.table.topic)

    def write(
        self, batch: DataFrame, progress: Progress, behind: Optional[DataFrame] = None, limit: Optional[int] = None
    ) -> None:
        """Commits a batch, after what can't be applied was set aside; Poisoned when the table stops instead.

        behind, limit: as SilverTable.write takes them. A bad one among them is met again in its own batch.
        """
        with self._lock:
            self._check()
            if behind is not None:
                behind = validate.sound(behind, self.silver.table, self.registry)
            try:
                self.silver.write(batch, progress, behind=behind, limit=limit)
            except (schema_evolution.SchemaRefused, Oversized, Unfillable):
                raise
            except Exception as error:  # py4j, or the registry
                self._look_through(batch, progress, error, behind)

    def replay(self, messages: DataFrame, progress: Progress) -> None:
        """Commits single messages of long ago: they take the place that their offsets give them."""
        with self._lock:
            self._check()
            self.silver.write(messages, progress, again=True)
        self.silver.sync_after_commit()

    def retire(self) -> None:
        """Returns once nothing is written through this guard, and from then on nothing will be."""
        with self._lock:
            self._retired = True

    def _check(self) -> None:
        if self._retired:
            raise Retired("{} was started anew meanwhile; ask again".format(self.silver.name))
        self._may_write()

    def _look_through(
        self, batch: DataFrame, progress: Progress, error: Exception, behind: Optional[DataFrame]
    ) -> None:
        told, first = validate.found_in(batch, self.silver.table, self.registry, error)
        try:
            self._check()  # again: the first try may have taken minutes to fail
            if self.silver.table.on_bad_message == STOP:
                raise Poisoned(refusal(self.silver.name, self.silver.table, first)) from None
            LOG.warning("%s: set aside partition %d offset %d", self.silver.name, first["partition"], first["offset"])
            self._quarantine.put(told.where(F.col(validate.REASON).isNotNull()), self.silver.table)
            self.silver.write(told.where(F.col(validate.REASON).isNull()), progress, behind=behind)
            self.silver.pass_over(end_offsets(told), progress)
        finally:
            told.unpersist()


def refusal(name: str, table: Table, row: Any) -> str:
    """What a stopped table says of the message in front of it."""
    return (
        "{}: {} partition {} offset {} can't be applied: {}; the table waits in front of it. To set such messages "
        "aside: on_bad_message: quarantine in databases/{}.yaml, then lake apply".format(
            name, table.topic, row["partition"], row["offset"], row[validate.REASON], table.database
        )
    )
