"""A table's past: its instants, the source position of each, and how far back it can be read whole."""

import json
import re
from datetime import datetime, timezone
from typing import Any, List, NamedTuple, Optional

from pyspark.sql import SparkSession

from spark_jobs.commits import PREFIX, meta_client, timeline
from spark_jobs.jvm import java

INSTANT = re.compile(r"\d{14}(\d{3})?$")
LSN = re.compile(r"([0-9A-Fa-f]{1,8})/([0-9A-Fa-f]{1,8})$")


class NoSuchMoment(Exception):
    """The moment asked for is before what the table keeps, or is none of the three forms."""


class Commit(NamedTuple):
    """One completed commit: its instant (yyyyMMddHHmmssSSS, UTC) and greatest source LSN, None for table services."""

    instant: str
    lsn: Optional[int]


def instant_of(spark: SparkSession, path: str, moment: str) -> str:
    """The Hudi instant for an instant, an ISO 8601 time (UTC unless it says otherwise) or a PostgreSQL LSN.

    An LSN, as pg_current_wal_lsn() gives it, is where the next change goes: it stands for the newest commit that
    holds only changes written before it. Raises NoSuchMoment.
    """
    commits = completed(spark, path)
    found = _by_lsn(commits, moment) if LSN.match(moment) else _by_time(moment)
    _refuse_unkept(spark, path, commits, found, moment)
    return found


def completed(spark: SparkSession, path: str) -> List[Commit]:
    """All commits of the active timeline, oldest first."""
    line = timeline(spark, path)
    if line is None:
        raise NoSuchMoment("there is no table at {} yet".format(path))
    instants = list(line.getCommitsTimeline().filterCompletedInstants().getInstants())
    return [Commit(str(instant.getTimestamp()), _lsn(line, instant)) for instant in instants]


def _lsn(line: Any, instant: Any) -> Optional[int]:
    extra = json.loads(bytes(line.getInstantDetails(instant).get()).decode("utf-8")).get("extraMetadata") or {}
    return json.loads(extra[PREFIX + "lsn"]) if PREFIX + "lsn" in extra else None


def _by_lsn(commits: List[Commit], moment: str) -> str:
    high, low = moment.split("/")
    position = (int(high, 16) << 32) + int(low, 16)
    reached = [commit.instant for commit in commits if commit.lsn is not None and commit.lsn < position]
    if not reached:
        raise NoSuchMoment("no kept commit is as old as LSN {}; the oldest is {}".format(moment, _oldest(commits)))
    return reached[-1]


def _by_time(moment: str) -> str:
    if INSTANT.match(moment):
        return moment.ljust(17, "9")
    try:
        time = datetime.strptime(moment.replace("Z", "+0000").replace("T", " "), _time_format(moment))
    except ValueError:
        raise NoSuchMoment(
            "'{}' is no moment; give an instant (20261121123000123), a time (2026-11-21T12:30:00) "
            "or an LSN (0/1A2B3C4)".format(moment)
        ) from None
    zoned = time if time.tzinfo else time.replace(tzinfo=timezone.utc)
    return zoned.astimezone(timezone.utc).strftime("%Y%m%d%H%M%S%f")[:17]


def _time_format(moment: str) -> str:
    fraction = ".%f" if "." in moment else ""
    zone = "%z" if re.search(r"(Z|[+-]\d\d:?\d\d)$", moment) else ""
    clock = " %H:%M:%S" if moment.count(":") >= 2 else " %H:%M" if ":" in moment else ""
    return "%Y-%m-%d" + clock + fraction + zone


def _refuse_unkept(spark: SparkSession, path: str, commits: List[Commit], instant: str, moment: str) -> None:
    """The cleaner has removed file versions before its horizon: a read there would be silently partial (F33)."""
    horizon = cleaned_before(spark, path) or _oldest(commits)
    if instant < horizon:
        raise NoSuchMoment("{} is before {}, the oldest moment that is kept whole".format(moment, horizon))


def _oldest(commits: List[Commit]) -> str:
    return commits[0].instant if commits else "any commit"


def cleaned_before(spark: SparkSession, path: str) -> Optional[str]:
    """The oldest instant whose files the cleaner leaves alone; None when it never removed any.

    A clean that is under way, or that a crash left half done, counts: it removes files before it is complete.
    """
    meta = meta_client(spark, path)
    line = meta.getActiveTimeline().getCleanerTimeline()
    pending = [_planned(spark, meta, instant) for instant in list(line.filterInflightsAndRequested().getInstants())]
    done = list(line.filterCompletedInstants().getInstants())[-1:]
    return max([one for one in pending + [_kept(spark, line, instant) for instant in done] if one], default=None)


def _kept(spark: SparkSession, line: Any, instant: Any) -> str:
    utilities = java(spark, "org.apache.hudi.common.table.timeline.TimelineMetadataUtils")
    metadata = utilities.deserializeHoodieCleanMetadata(line.getInstantDetails(instant).get())
    return str(metadata.getEarliestCommitToRetain())


def _planned(spark: SparkSession, meta: Any, instant: Any) -> Optional[str]:
    plan = java(spark, "org.apache.hudi.common.util.CleanerUtils").getCleanerPlan(meta, instant)
    kept = plan.getEarliestInstantToRetain()
    return str(kept.getTimestamp()) if kept else None
