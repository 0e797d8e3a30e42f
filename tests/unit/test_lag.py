"""For how long a table lacks what its topic holds, and Kafka what a source committed."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lake.clients.table_status import healthy, of_report
from lake.guardian import lag
from lake.guardian.lag import LagTracker
from spark_jobs.kafka.lag import LagTracker as TableLag
from tests.clocks import replace_time


def test_what_was_held_at_a_look_and_is_not_reached_grows_old() -> None:
    backlog = TableLag()
    assert backlog.age_s({}, {0: 0}, 10) == 0
    assert backlog.age_s({"0": 5}, {0: 8}, 20) == 0
    assert backlog.age_s({"0": 7}, {0: 12}, 30) == 10
    assert backlog.age_s({"0": 8}, {0: 12}, 40) == 10  # 12 was held at 30
    assert backlog.age_s({"0": 8}, {}, 45) == 15  # Kafka is away
    assert backlog.age_s({"0": 12}, {0: 12}, 50) == 0


def test_every_partition_counts() -> None:
    backlog = TableLag()
    backlog.age_s({"0": 9}, {0: 9, 1: 1}, 0)
    assert backlog.age_s({"0": 9}, {0: 9, 1: 1}, 4) == 4
    assert backlog.age_s({"0": 9, "1": 1}, {0: 9, 1: 1}, 5) == 0


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [0.0]
    replace_time(monkeypatch, lag, monotonic=lambda: now[0])
    return now


def test_kafka_lags_until_the_source_knows_that_all_is_captured(clock: list[float]) -> None:
    tracker = LagTracker()
    assert tracker.age_s(500, 600) == 0
    clock[0] = 40
    assert tracker.age_s(500, 700) == 40
    assert tracker.age_s(600, 700) == 0
    clock[0] = 50
    assert tracker.age_s(600, 700) == 10
    assert tracker.age_s(None, 700) == 0


def test_the_log_of_a_restored_server_is_another_one(clock: list[float]) -> None:
    tracker = LagTracker()
    tracker.age_s(500, 10**9)
    clock[0] = 40
    assert tracker.age_s(500, 700) == 0


STEPS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 9), st.integers(1, 400)), max_size=60)


@given(STEPS)
@settings(deadline=None)
def test_both_trackers_are_one_algorithm(steps: list[tuple[int, int, int]]) -> None:
    """Neither of lake and spark_jobs imports the other. Each step: how far both ends get, and the seconds it takes."""
    of_source, of_table, now, reached, held = LagTracker(), TableLag(), 0.0, 0, 0
    for caught_up, written, seconds in steps:
        held, now = held + written, now + seconds
        reached = min(reached + caught_up, held)
        with pytest.MonkeyPatch.context() as patched:
            replace_time(patched, lag, monotonic=lambda now=now: now)
            assert of_source.age_s(reached, held) == of_table.age_s({"0": reached}, {0: held}, now)


@pytest.mark.parametrize(("behind_s", "state"), [(0.0, "running"), (29.0, "running"), (31.0, "behind")])
def test_a_table_that_is_behind_is_not_healthy(behind_s: float, state: str) -> None:
    (table,) = of_report({"shop_mor.item": {"state": "running", "behind_s": behind_s}}, 0, 15)
    assert (table.state, healthy([table], [])) == (state, state == "running")
