"""How many commits the cleaner and the archiver of a table keep."""

from argparse import Namespace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from spark_jobs.hudi import retention

NOW = datetime(2026, 1, 1, 12, 0, 0, 900_000, tzinfo=UTC)
FORMAT = "%Y%m%d%H%M%S%f"


def line(commits: int, every_s: float, compacted: list[int], *, is_cow: bool = False) -> Any:
    """So many commits, the last one now. compacted: the numbers of those that are compactions."""
    begin = NOW - timedelta(seconds=every_s * (commits - 1))
    instants = [
        Namespace(getTimestamp=lambda at=begin + timedelta(seconds=every_s * number): at.strftime(FORMAT)[:-3])
        for number in range(commits)
    ]
    found = instants if is_cow else [instants[number] for number in compacted]
    return Namespace(getCommitsTimeline=lambda: timeline(instants), getCommitTimeline=lambda: timeline(found))


def timeline(instants: list[Any]) -> Any:
    return Namespace(filterCompletedInstants=lambda: Namespace(getInstants=lambda: instants))


@pytest.mark.parametrize(
    ("commits", "every_s", "compacted", "history_s", "cleaned", "archived"),
    [
        (400, 1, [100, 200, 300], 60, 61, 100),  # from the compaction at 300 on
        (400, 1, [100, 200, 300], 150, 151, 200),
        (400, 1, [100, 200, 390], 5, 10, 20),  # the fewest, and ten to spare
        (400, 60, [100, 200, 300], 60, 10, 100),  # of a table that seldom changes, the fewest
        (50, 1, [], 60, 51, 61),  # all: there is no compaction yet
        (5, 1, [], 0, 10, 20),
        (60, 0.01, [45], 0, 10, 20),  # all in one second
    ],
)
def test_the_commits_of_a_time_and_of_their_file_slices_are_kept(
    commits: int, every_s: float, compacted: list[int], history_s: int, cleaned: int, archived: int
) -> None:
    found = retention.options(line(commits, every_s, compacted), 10, history_s, NOW)
    assert (found[retention.FEWEST], found["hoodie.keep.min.commits"]) == (str(cleaned), str(archived))
    assert int(found["hoodie.keep.max.commits"]) > archived > cleaned, "or Hudi refuses them"


def test_each_commit_of_a_copy_on_write_table_is_whole() -> None:
    found = retention.options(line(400, 1, [], is_cow=True), 10, 60, NOW)
    assert (found[retention.FEWEST], found["hoodie.keep.min.commits"]) == ("61", "71")
