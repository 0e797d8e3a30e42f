"""Archives and table services next to the commits."""

import threading
from collections.abc import Callable
from contextlib import ExitStack

import pytest

from spark_jobs.scheduling.background import POOL, REST, REST_MAX_S, Background


class Context:
    """The part of a SparkContext that is used."""

    def __init__(self, cores: int) -> None:
        self.defaultParallelism = cores
        self.pools: list[str] = []

    def setLocalProperty(self, name: str, value: str) -> None:
        assert name == "spark.scheduler.pool"
        self.pools.append(value)


class Time:
    """A clock that a test moves, and the pauses that began, which a test ends."""

    def __init__(self) -> None:
        self.now = 0.0
        self.pauses: list[float] = []
        self._ends: list[Callable[[], None]] = []

    def clock(self) -> float:
        return self.now

    def timer(self, seconds: float, end: Callable[[], None]) -> "Pause":
        return Pause(self, seconds, end)

    def begin(self, pause: "Pause") -> None:
        self.pauses.append(pause.seconds)
        self._ends.append(pause.end)

    def end_pause(self) -> None:
        self._ends.pop(0)()


class Pause:
    """A timer of a Time."""

    daemon = False

    def __init__(self, moment: Time, seconds: float, end: Callable[[], None]) -> None:
        self._moment, self.seconds, self.end = moment, seconds, end

    def start(self) -> None:
        self._moment.begin(self)


def taker(shared: Background) -> threading.Event:
    """Takes a turn in a thread; set once it has the turn."""
    has_turn = threading.Event()

    def take() -> None:
        with shared.turn():
            has_turn.set()

    threading.Thread(target=take, daemon=True).start()
    return has_turn


def background(context: Context, moment: Time, busy: bool = True) -> Background:
    return Background(context, lambda: busy, moment.clock, moment.timer)  # type: ignore[arg-type]


@pytest.mark.parametrize(("cores", "at_once"), [(1, 1), (2, 1), (8, 4)])
def test_half_of_the_cores_at_most(cores: int, at_once: int) -> None:
    context, moment = Context(cores), Time()
    shared = background(context, moment)
    with ExitStack() as turns:
        for _ in range(at_once):
            turns.enter_context(shared.turn())
        one_too_many = taker(shared)
        assert not one_too_many.wait(0.05)
    assert len(moment.pauses) == at_once
    moment.end_pause()
    assert one_too_many.wait(60)
    assert context.pools == [POOL] * (at_once + 1)


def test_what_fails_gives_its_turn_back() -> None:
    moment = Time()
    shared = background(Context(2), moment)
    with pytest.raises(OSError, match="away"), shared.turn():
        raise OSError("away")
    moment.end_pause()
    with shared.turn():
        pass


@pytest.mark.parametrize(
    ("worked_s", "busy", "pause_s"),
    [(0.5, True, 0.5 * REST), (REST_MAX_S, True, REST_MAX_S), (0.5, False, 0.0)],
    ids=["twice as long as the work", "work that waited for a server", "no table is busy"],
)
def test_a_turn_pauses_before_the_next_one(worked_s: float, busy: bool, pause_s: float) -> None:
    moment = Time()
    shared = background(Context(2), moment, busy)
    with shared.turn():
        moment.now += worked_s
    assert moment.pauses == [pause_s], "who had the turn has left it, and does not wait for the pause"
    after = taker(shared)
    assert not after.wait(0.05), "the pause lasts"
    moment.end_pause()
    assert after.wait(60)


def test_the_pause_ends_by_itself() -> None:
    shared = Background(Context(2), lambda: True)  # type: ignore[arg-type]
    with shared.turn():
        pass
    assert taker(shared).wait(60)
