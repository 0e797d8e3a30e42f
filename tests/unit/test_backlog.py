"""For how long a table lacks what its topic holds, and Kafka what a source committed."""

from dataclasses import replace

import pytest

from lake.clients.table_status import healthy, of_report
from lake.sources.postgres import slot_lag as delay
from lake.sources.postgres.facts import Server
from lake.sources.postgres.slot_lag import Delay
from spark_jobs.kafka.lag import LagTracker
from tests.clocks import replace_time
from tests.unit.test_guard_rules import SERVER, SLOT


def test_what_was_held_at_a_look_and_is_not_reached_grows_old() -> None:
    backlog = LagTracker()
    assert backlog.age_s({}, {0: 0}, 10) == 0
    assert backlog.age_s({"0": 5}, {0: 8}, 20) == 0
    assert backlog.age_s({"0": 7}, {0: 12}, 30) == 10
    assert backlog.age_s({"0": 8}, {0: 12}, 40) == 10  # 12 was held at 30
    assert backlog.age_s({"0": 8}, {}, 45) == 15  # Kafka is away
    assert backlog.age_s({"0": 12}, {0: 12}, 50) == 0


def test_every_partition_counts() -> None:
    backlog = LagTracker()
    backlog.age_s({"0": 9}, {0: 9, 1: 1}, 0)
    assert backlog.age_s({"0": 9}, {0: 9, 1: 1}, 4) == 4
    assert backlog.age_s({"0": 9, "1": 1}, {0: 9, 1: 1}, 5) == 0


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [0.0]
    replace_time(monkeypatch, delay, monotonic=lambda: now[0])
    return now


def test_kafka_is_behind_until_the_slot_confirms(clock: list[float]) -> None:
    delay = Delay()
    at = lambda position: Server("7", "00000001", position)  # noqa: E731
    assert delay.age_s(at(600), SLOT) == 0
    clock[0] = 40
    assert delay.age_s(at(700), SLOT) == 40
    assert delay.age_s(at(700), replace(SLOT, confirmed=600)) == 0
    clock[0] = 50
    assert delay.age_s(at(700), replace(SLOT, confirmed=600)) == 10
    assert delay.age_s(at(700), None) == 0


def test_the_log_of_a_restored_server_is_another_one(clock: list[float]) -> None:
    delay = Delay()
    delay.age_s(replace(SERVER, position=10**9), SLOT)
    clock[0] = 40
    assert delay.age_s(replace(SERVER, position=700), SLOT) == 0


@pytest.mark.parametrize(("behind_s", "state"), [(0.0, "running"), (29.0, "running"), (31.0, "behind")])
def test_a_table_that_is_behind_is_not_healthy(behind_s: float, state: str) -> None:
    (table,) = of_report({"shop_mor.item": {"state": "running", "behind_s": behind_s}}, 0, 15)
    assert (table.state, healthy([table], [])) == (state, state == "running")
