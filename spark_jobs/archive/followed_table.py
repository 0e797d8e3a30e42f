"""One table that HoodieStreamer follows by itself: the first commit by BULK_INSERT, then UPSERT with --continuous.

--continuous keeps the schema that it began with. So when the registry has a new version, HoodieStreamer is ended and
begun again with a schema that knows it, from the last position at which no file could have that version: what it read
since is read again. Reading a file again changes no row that is newer. Position and number of versions are noted in a
file beside the SQL of the table, because the version may come while this job does not run.
"""

import json
import logging
import threading
import time
from typing import Callable, List, Optional, Tuple

from spark_jobs.archive.streamed_table import Run, StreamedTable, beginning
from spark_jobs.hudi import timeline
from spark_jobs.kafka.schema_registry import UnknownSchema, Unreachable
from spark_jobs.runtime import storage
from spark_jobs.runtime.errors import root_cause

LOG = logging.getLogger("streamer")
LOOK_S = 5.0
Noted = Tuple[int, str]  # how many versions there were, and a position up to which no file has a later one


class Failed(Exception):
    """HoodieStreamer ended by itself."""


class FollowedTable:
    """check is called before anything is written, and at each look: it raises when another job may write the table."""

    def __init__(self, table: StreamedTable, interval_s: float, check: Callable[[], None]) -> None:
        self._table = table
        self._check = check
        self._interval_s = interval_s
        self._noted: Noted = (0, "")

    def follow(self) -> None:
        """Never ends by itself. Raises Failed, or what check raises."""
        while not self._loaded():
            time.sleep(LOOK_S)
        self._noted = self._read_note()
        while True:
            self._follow_one_schema()

    def _loaded(self) -> bool:
        """True once the table has a commit; makes the first one if it has none."""
        table = self._table
        self._check()
        if timeline.written(table.spark, table.path):
            return True
        table.result.update(state="reading", reason=None)
        try:
            self._note(table.versions(), "")
        except UnknownSchema as missing:
            table.result.update(state="empty", reason=str(missing))
            return False
        table.sync(False)
        if table.result["state"] == "failed":
            raise Failed(table.result["reason"])
        return bool(table.result["commits"])  # the archive may have no file yet

    def _follow_one_schema(self) -> None:
        """Until there is another version of the schema."""
        table = self._table
        begun, position = timeline.checkpoint(table.spark, table.path)
        again = self._read_again_from(position, table.versions())
        table.prepare()
        run = Following(Run(table.spark, table.words(self._operation(), again)))
        seen = timeline.last_instant(table.spark, table.path)
        try:
            while not run.ended(LOOK_S):
                self._check()
                seen = table.note_commits(seen, table.target["follow"])
                table.result.update(state="running", reason=None)
                if self._has_another_version(begun if again else ""):
                    return
        finally:
            run.shut_down()
        raise Failed(run.failure)

    def _operation(self) -> List[str]:
        follow: List[str] = self._table.target["follow"]
        return follow + ["--continuous", "--min-sync-interval-seconds", str(int(self._interval_s))]

    def _read_again_from(self, position: str, versions: int) -> str:
        """The position to read from, "" after the last commit. position was read before the versions were counted."""
        known, safe = self._noted
        if known in (0, versions):
            self._note(versions, position)
            return ""
        self._noted = (versions, safe)  # the file keeps the old number until a commit has read the files again
        return safe or beginning()

    def _has_another_version(self, begun: str) -> bool:
        """Notes the position if there is none, and if a commit after the instant `begun` has it."""
        instant, position = timeline.checkpoint(self._table.spark, self._table.path)
        try:
            versions = self._table.versions()
        except (Unreachable, UnknownSchema) as problem:
            LOG.warning("%s: %s", self._table.name, problem)
            return False
        if versions != self._noted[0]:
            LOG.warning("%s: version %s of its schema", self._table.name, versions)
            return True
        if instant > begun and position != self._noted[1]:
            self._note(versions, position)
        return False

    def _note(self, versions: int, position: str) -> None:
        self._noted = (versions, position)
        self._table.result["versions"] = versions
        storage.write_text(self._table.spark, self._note_file(), json.dumps(self._noted))

    def _read_note(self) -> Noted:
        """(0, "") where nothing was noted: a table that another way of reading made."""
        spark, path = self._table.spark, self._note_file()
        if not storage.exists(spark, path):
            return 0, ""
        versions, position = json.loads(storage.read_text(spark, path))
        return int(versions), str(position)

    def _note_file(self) -> str:
        return "{}.followed".format(self._table.target["sql"])


class Following:
    """A run of HoodieStreamer in a thread."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._ended = threading.Event()
        self.failure: Optional[str] = None
        threading.Thread(target=self._follow, daemon=True).start()

    def _follow(self) -> None:
        try:
            self._run.sync()
            self.failure = "HoodieStreamer ended without a reason; its log has it"
        except Exception as error:  # py4j wraps whatever HoodieStreamer throws
            LOG.exception("HoodieStreamer")
            self.failure = root_cause(error)
        finally:
            self._ended.set()

    def ended(self, within_s: float) -> bool:
        return self._ended.wait(within_s)

    def shut_down(self) -> None:
        """Returns once HoodieStreamer writes no more."""
        self._run.shut_down()
        self._ended.wait()
