"""Connectors whose tasks failed or hang are started again, ever more rarely."""

from typing import Any

import pytest

from lake.guardian import restarts
from lake.guardian.restarts import Restarts
from tests.clocks import replace_time

RUNNING = {"connector": {"state": "RUNNING"}, "tasks": [{"state": "RUNNING"}]}
FAILED = {"connector": {"state": "RUNNING"}, "tasks": [{"state": "FAILED", "trace": "no password"}]}


class Connect:
    """Says what it is told to say; remembers when it was asked for a start."""

    def __init__(self) -> None:
        self.now = 0.0
        self.state: dict[str, Any] = RUNNING
        self.started: list[float] = []
        self.in_snapshot = False

    def snapshotting(self, name: str) -> bool:
        return self.in_snapshot

    def status(self, name: str) -> dict[str, Any]:
        return self.state

    def tell(self, name: str, verb: str) -> None:
        self.started.append(self.now)


@pytest.fixture
def connect(monkeypatch: pytest.MonkeyPatch) -> Connect:
    made = Connect()
    replace_time(monkeypatch, restarts, monotonic=lambda: made.now)
    return made


def looked_at(connect: Connect, until: int, is_read: bool = True) -> Restarts:
    """Every five seconds, as the guardian does."""
    one = Restarts(connect)  # type: ignore[arg-type]
    for second in range(0, until, 5):
        connect.now = float(second)
        one.attend("source", is_read)
    return one


def fails_again(connect: Connect, one: Restarts, up_at: float, down_at: float) -> None:
    """It is seen up, and then down."""
    for connect.now, connect.state in ((up_at, RUNNING), (down_at, FAILED)):
        one.attend("source", True)


def test_one_that_runs_is_left_alone(connect: Connect) -> None:
    looked_at(connect, 100)
    assert connect.started == []


def test_each_wait_is_twice_the_one_before_up_to_five_minutes(connect: Connect) -> None:
    connect.state = FAILED
    looked_at(connect, 1300)
    assert connect.started == [0, 10, 30, 70, 150, 310, 610, 910, 1210]


def test_one_that_stayed_up_for_its_wait_is_started_at_once_next_time(connect: Connect) -> None:
    connect.state = FAILED
    fails_again(connect, looked_at(connect, 80), up_at=150.0, down_at=155.0)
    assert connect.started == [0, 10, 30, 70, 155]


def test_one_that_failed_again_within_its_wait_waits_on(connect: Connect) -> None:
    connect.state = FAILED
    fails_again(connect, looked_at(connect, 10), up_at=5.0, down_at=8.0)
    assert connect.started == [0]


def test_one_whose_slot_nobody_reads_is_started_again(connect: Connect) -> None:
    looked_at(connect, 115, is_read=False)
    assert connect.started == []
    looked_at(connect, 700, is_read=False)
    assert connect.started == [120, 250, 390, 550]


@pytest.mark.parametrize("state", ["PAUSED", "STOPPED"])
def test_one_that_need_not_read_is_left_alone(connect: Connect, state: str) -> None:
    connect.state = {"connector": {"state": state}, "tasks": []}
    looked_at(connect, 300, is_read=False)
    assert connect.started == []


def test_a_first_snapshot_reads_no_slot(connect: Connect) -> None:
    connect.in_snapshot = True
    looked_at(connect, 300, is_read=False)
    assert connect.started == []


def test_a_slot_that_is_read_again_begins_anew(connect: Connect) -> None:
    one = looked_at(connect, 115, is_read=False)
    for connect.now, is_read in ((120.0, True), (125.0, False), (240.0, False), (245.0, False)):
        one.attend("source", is_read)
    assert connect.started == [245]
