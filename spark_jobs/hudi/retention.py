"""How far back a table is kept: a span of time, and at least a number of commits."""

from datetime import datetime, timedelta, timezone
from typing import Any, Dict, List, Optional

FEWEST = "hoodie.cleaner.commits.retained"  # in the options of the table
SPARE = 10  # commits that are archived later than they have to be
STEP = 20  # commits that are archived at once


def options(line: Any, fewest: int, history_s: float, now: Optional[datetime] = None) -> Dict[str, str]:
    """Options of the cleaner and of the archiver, for a timeline() as it is now.

    Hudi keeps numbers of commits here, because to keep by hours fails in 0.14.0 (HUDI-7226). The cleaner keeps the
    commits of the last history_s seconds, and the one that was the newest before. The archiver keeps all commits of
    each file slice from which these can be read. To a reader, a commit that is missing behind the first one of the
    timeline was never made, and it passes over its log blocks. A listing of a folder that takes long can miss it: the
    first commit is listed before it is deleted, and the next one is deleted before it is listed.
    """
    commits = _instants(line.getCommitsTimeline().filterCompletedInstants())
    compactions = _instants(line.getCommitTimeline().filterCompletedInstants())
    since = (now or datetime.now(timezone.utc)) - timedelta(seconds=history_s)
    cleaned = max(fewest, _newer(commits, since.strftime("%Y%m%d%H%M%S%f")[:-3]) + 1)
    oldest = next(iter(commits[-cleaned:]), "")
    slices = [one for one in compactions if one <= oldest]
    kept = max(cleaned + SPARE, _newer(commits, slices[-1]) + 1 if slices else len(commits))
    return {
        FEWEST: str(cleaned),
        "hoodie.keep.min.commits": str(kept),
        "hoodie.keep.max.commits": str(kept + STEP),
    }


def _newer(commits: List[str], than: str) -> int:
    return sum(one > than for one in commits)


def _instants(line: Any) -> List[str]:
    return [str(one.getTimestamp()) for one in list(line.getInstants())]
