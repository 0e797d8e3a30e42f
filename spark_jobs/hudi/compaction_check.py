"""A compaction has to read all that was committed to its log files: what it passes over is lost.

Hudi's reader passes over blocks of commits that it does not see in the timeline, and over what follows on
what it takes for the end of a file, without an error (0.14, AbstractHoodieLogRecordReader, HoodieLogFileReader).
"""

from typing import Any, Dict, Iterator, List, NamedTuple, Tuple

from spark_jobs.hudi.timeline import commit_metadata


class Incomplete(Exception):
    """A plan, or its run, leaves out rows of the log. Nothing was committed; the plan is run again."""


class Slice(NamedTuple):
    """The file slice that an operation of a plan reads: its base, and the names of its log files."""

    base: str
    files: Tuple[str, ...]


def committed_rows(line: Any, plan: Any, instant: str) -> Dict[str, int]:
    """By file id, the rows in the log files of a plan, as the commits say that are still in the timeline.

    plan: a Java HoodieCompactionPlan of this instant. Raises Incomplete if it lacks a log file of its file slices.
    """
    slices = {str(one.getFileId()): _slice(one) for one in _all(plan.getOperations())}
    found = dict.fromkeys(slices, 0)
    for stat in _written(line, min((one.base for one in slices.values()), default=instant), instant):
        one, name = slices.get(stat["fileId"]), stat["path"].rpartition("/")[2]
        if one is not None and stat.get("prevCommit") == one.base and ".log." in name:
            if name not in one.files:
                raise Incomplete("the plan of compaction {} lacks the log file {}".format(instant, name))
            found[stat["fileId"]] += stat["numInserts"] + stat["numUpdateWrites"]
    return found


def refuse_incomplete(committed: Dict[str, int], stats: Any) -> None:
    """Raises Incomplete. committed: of committed_rows(). stats: of a run (Java HoodieWriteStats), before its commit."""
    read = {str(stat.getFileId()): int(stat.getTotalLogRecords()) for stat in list(stats)}
    for file, rows in committed.items():
        if read.get(file, 0) < rows:
            what = "the compaction of {} has read {} of {} rows of its log; it is run again"
            raise Incomplete(what.format(file, read.get(file, 0), rows))


def _slice(operation: Any) -> Slice:
    files = [str(name).rpartition("/")[2] for name in _all(operation.getDeltaFilePaths())]
    return Slice(str(operation.getBaseInstantTime()), tuple(files))


def _all(found: Any) -> List[Any]:
    """Of a list of Avro, whose iterator py4j can't end."""
    return [found.get(place) for place in range(found.size() if found else 0)]


def _written(line: Any, after: str, before: str) -> Iterator[Dict[str, Any]]:
    """What the complete commits between two instants have written, file by file."""
    for one in list(line.getDeltaCommitTimeline().filterCompletedInstants().getInstants()):
        if after <= str(one.getTimestamp()) < before:
            for files in commit_metadata(line, one)["partitionToWriteStats"].values():
                yield from files
