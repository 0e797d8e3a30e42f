"""Time travel: a table's instants, the source position of each, and the oldest that can be read completely."""

import re
from datetime import datetime, timezone
from typing import Any, List, NamedTuple, Optional

from pyspark.sql import SparkSession

from spark_jobs.hudi.timeline import meta_client, position_in, timeline
from spark_jobs.runtime.jvm import java
from spark_jobs.runtime.pipeline import ENGINE
from spark_jobs.sources.engine import Positions, engine

INSTANT = re.compile(r"[0-9]{14}([0-9]{3})?")
# ISO 8601 as people write it, and as PostgreSQL prints it: 2026-11-21 12:30:00.123456+00
TIME = re.compile(
    r"(?P<day>[0-9]{4}-[0-9]{2}-[0-9]{2})"
    r"([T ](?P<minute>[0-9]{2}:[0-9]{2})(:(?P<second>[0-9]{2})(\.(?P<fraction>[0-9]{1,6}))?)?"
    r"(?P<zone>Z|[+-][0-9]{2}(:?[0-9]{2})?)?)?",
    re.IGNORECASE,
)
FORMS = "an instant (20261121123000123), a time (2026-11-21T12:30:00) or an {0.name} ({0.example})"


class NoSuchMoment(Exception):
    """The moment is before the oldest or after the newest that the table can show, or has none of the three forms."""


class Commit(NamedTuple):
    """A complete commit: its instant (yyyyMMddHHmmssSSS, UTC) and greatest source position, None for table services."""

    instant: str
    position: Optional[int]


def instant_of(spark: SparkSession, path: str, moment: str, source: str = ENGINE, may_be_ahead: bool = False) -> str:
    """The Hudi instant for an instant, an ISO 8601 time (UTC unless it says otherwise) or a position of the source.

    A position is where the next change goes: it means the newest commit that holds only changes written before it.
    That commit is known once the table has a later change. source: its engine. may_be_ahead: accepts a position that
    the table has not reached. Raises NoSuchMoment.
    """
    commits, positions = completed(spark, path), engine(source).positions
    position = positions.parse(moment)
    if position is None:
        found = _by_time(moment, positions)
    else:
        if not may_be_ahead:
            _refuse_ahead(path, commits, moment, position, positions)
        found = _by_position(commits, moment, position, positions)
    # The cleaner has removed file versions before its horizon: a read there would be silently partial (F33).
    horizon = cleaned_before(spark, path) or _oldest(commits)
    if found < horizon:
        raise NoSuchMoment("{} is before {}, the oldest moment that is kept completely".format(moment, horizon))
    return found


def completed(spark: SparkSession, path: str) -> List[Commit]:
    """All commits of the active timeline, oldest first."""
    line = timeline(spark, path)
    if line is None:
        raise NoSuchMoment("there is no table at {} yet".format(path))
    instants = list(line.getCommitsTimeline().filterCompletedInstants().getInstants())
    return [Commit(str(instant.getTimestamp()), position_in(line, instant).get("lsn")) for instant in instants]


def _refuse_ahead(path: str, commits: List[Commit], moment: str, position: int, positions: Positions) -> None:
    """Raises NoSuchMoment: the next commit may still be from before the moment, and the answer would then change."""
    reached = max([commit.position for commit in commits if commit.position is not None], default=0)
    if reached < position:
        what = "{} has reached {} {}, not {}: wait for a later change, or give a time, or no moment (for now)"
        raise NoSuchMoment(what.format(path, positions.name, positions.text(reached), moment))


def _by_position(commits: List[Commit], moment: str, position: int, positions: Positions) -> str:
    reached = [commit.instant for commit in commits if commit.position is not None and commit.position < position]
    if not reached:
        what = "no kept commit is as old as {} {}; the oldest is {}"
        raise NoSuchMoment(what.format(positions.name, moment, _oldest(commits)))
    return reached[-1]


def _by_time(moment: str, positions: Positions) -> str:
    try:
        if INSTANT.fullmatch(moment):
            datetime.strptime(moment[:14], "%Y%m%d%H%M%S")
            return moment.ljust(17, "9")
        time = _time(moment)
    except (ValueError, OverflowError):
        raise NoSuchMoment("'{}' is not a moment; give {}".format(moment, FORMS.format(positions))) from None
    now = datetime.now(timezone.utc)
    if time > now:
        raise NoSuchMoment("{} is in the future: the time here is {:%Y-%m-%dT%H:%M:%SZ}".format(moment, now))
    # Not strftime: it writes the year 999 in three digits.
    return re.sub("[^0-9]", "", time.replace(tzinfo=None).isoformat(timespec="milliseconds"))


def _time(moment: str) -> datetime:
    """In UTC. Raises ValueError, and OverflowError where it has no year there."""
    found = TIME.fullmatch(moment)
    if not found:
        raise ValueError(moment)
    clock = "{}:{}".format(found["minute"] or "00:00", found["second"] or "00")
    zone = "+00" if (found["zone"] or "Z") in "Zz" else found["zone"].replace(":", "")
    text = "{} {}.{} {}".format(found["day"], clock, found["fraction"] or "0", zone.ljust(5, "0"))
    return datetime.strptime(text, "%Y-%m-%d %H:%M:%S.%f %z").astimezone(timezone.utc)


def _oldest(commits: List[Commit]) -> str:
    return commits[0].instant if commits else "any commit"


def cleaned_before(spark: SparkSession, path: str) -> Optional[str]:
    """The oldest instant whose files the cleaner keeps; None when it never removed any.

    A cleaning that runs, or that a crash left unfinished, counts: it removes files before it is complete.
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
