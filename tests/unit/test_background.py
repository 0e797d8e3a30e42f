"""Archives and table services beside the commits."""

import threading
import time

import pytest

from spark_jobs.scheduling.background import POOL, REST, Background


def background(cores: int, busy: bool = True) -> Background:
    return Background(Context(cores), lambda: busy)  # type: ignore[arg-type]


class Context:
    """As much of a SparkContext as is asked for."""

    def __init__(self, cores: int) -> None:
        self.defaultParallelism = cores
        self.pools: list[str] = []

    def setLocalProperty(self, name: str, value: str) -> None:
        assert name == "spark.scheduler.pool"
        self.pools.append(value)


@pytest.mark.parametrize(("cores", "at_once"), [(1, 1), (2, 1), (8, 4)])
def test_half_of_the_cores_at_most(cores: int, at_once: int) -> None:
    context = Context(cores)
    shared, inside, most = Background(context, lambda: True), [], []  # type: ignore[arg-type,var-annotated]
    together = threading.Barrier(at_once)  # as many as may, however slowly their threads begin

    def work() -> None:
        with shared.turn():
            inside.append(1)
            together.wait(120)
            time.sleep(0.02)  # for one too many
            most.append(len(inside))
            inside.pop()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert max(most) == at_once
    assert context.pools == [POOL] * 8


def test_what_fails_gives_its_turn_back() -> None:
    shared = background(2)
    with pytest.raises(OSError, match="away"), shared.turn():
        raise OSError("away")
    with shared.turn():
        pass


def given_again_s(shared: Background, worked_s: float) -> tuple[float, float]:
    """Seconds from its begin until who had a turn goes on, and until it is given again."""
    began = time.monotonic()
    with shared.turn():
        time.sleep(worked_s)
    went_on_s = time.monotonic() - began
    with shared.turn():
        return went_on_s, time.monotonic() - began


def test_a_turn_rests_before_it_is_given_again_but_not_who_had_it() -> None:
    went_on_s, again_s = given_again_s(background(2), 0.5)
    assert went_on_s < 0.5 * (1 + REST) <= again_s


def test_a_turn_that_waited_for_a_server_does_not_rest_for_as_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spark_jobs.scheduling.background.REST_MAX_S", 0.1)
    went_on_s, again_s = given_again_s(background(2), 1.0)
    assert again_s - went_on_s < 1.0 * REST


def test_without_a_table_that_is_busy_nothing_rests() -> None:
    went_on_s, again_s = given_again_s(background(2, busy=False), 1.0)
    assert again_s - went_on_s < 1.0 * REST
