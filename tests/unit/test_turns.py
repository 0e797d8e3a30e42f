"""Turns of the tables that share the cores."""

import threading
import time

import pytest

from spark_jobs import turns
from spark_jobs.turns import Turns


def in_thread(work) -> threading.Thread:  # type: ignore[no-untyped-def]
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def test_no_more_than_so_many_at_once() -> None:
    shared, inside, most = Turns(2), [], []

    def commit(name: str) -> None:
        for _ in range(5):
            with shared.turn(name):
                inside.append(name)
                most.append(len(inside))
                time.sleep(0.002)
                inside.remove(name)
            shared.await_next(name)

    threads = [in_thread(lambda name=name: commit(name)) for name in "abcde"]
    for thread in threads:
        thread.join(60)
    assert (len(most), max(most)) == (25, 2)


def test_a_turn_is_kept_for_the_batch_that_follows() -> None:
    now, order = 0.0, []
    shared = Turns(1, clock=lambda: now)  # the turn is kept for as long as it takes this test to come here
    shared.await_next("a")
    other = in_thread(lambda: [shared.await_next("b"), order.append("b")])
    while not shared._waiting:
        time.sleep(0.001)
    with shared.turn("a"):
        now = turns.KEPT_AT_MOST_S * 1.5  # longer than it is kept: from here on it is held
        time.sleep(now)  # the other looks meanwhile
        order.append("a")
    other.join(60)
    assert order == ["a", "b"]


def test_a_table_without_changes_gives_its_turn_back() -> None:
    shared = Turns(1)
    shared.await_next("idle")
    began = time.monotonic()
    with shared.turn("busy"):
        assert turns.KEPT_S * 0.5 < time.monotonic() - began < turns.PATIENCE_S


@pytest.mark.parametrize(("cuts", "kept"), [([], 1.0), ([0.1, 9.0], 0.3), ([0.01, 0.3], 0.25), ([0.3, 9.0], 0.9)])
def test_a_turn_is_kept_for_as_long_as_it_takes_to_cut_a_batch_here(cuts: list[float], kept: float) -> None:
    now = 0.0
    shared = Turns(1, clock=lambda: now)
    for took in cuts:
        shared.await_next("a")
        now += took
        with shared.turn("a"):
            pass
    shared.await_next("a")
    assert shared._ends["a"] - now == pytest.approx(kept)


def test_tables_come_in_the_order_in_which_they_asked() -> None:
    shared, order, threads = Turns(1), [], []
    with shared.turn("a"):
        for name in "bcd":
            threads.append(in_thread(lambda name=name: [shared.await_next(name), order.append(name)]))
            while name not in shared._waiting:
                time.sleep(0.001)
    for thread in threads:
        thread.join(60)
    assert order == ["b", "c", "d"]


def test_a_huge_batch_does_not_stop_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "PATIENCE_S", 0.05)
    shared = Turns(1)
    with shared.turn("huge"), shared.turn("small"):
        assert set(shared._ends) == {"huge", "small"}


def test_a_failed_commit_gives_its_turn_back() -> None:
    shared = Turns(1)
    with pytest.raises(ZeroDivisionError), shared.turn("broken"):
        1 / 0  # noqa: B018
    assert shared._ends == {}


def test_tables_are_busy_while_one_commits_or_waits() -> None:
    shared, told = Turns(1), []
    shared.await_next("a")
    assert not shared.busy()  # the turn is kept for what may not come
    waiting = in_thread(lambda: shared.await_next("b"))
    while not shared._waiting:
        time.sleep(0.001)
    told.append(shared.busy())
    with shared.turn("a"):
        told.append(shared.busy())
    waiting.join(60)
    assert (told, shared.busy()) == ([True, True], False)


def test_tables_begin_one_after_the_other_and_before_those_that_go_on() -> None:
    shared, order = Turns(1), []
    assert [shared.may_begin(name) for name in "abc"] == [True, False, False]
    with shared.turn("a"):
        assert not shared.may_begin("b")
        goes_on = in_thread(lambda: [shared.await_next("a"), order.append("a")])
        while "a" not in shared._waiting:
            time.sleep(0.001)
    for name in "bc":
        assert shared.may_begin(name)
        assert not shared.may_begin("later")
        with shared.turn(name):
            order.append(name)
    goes_on.join(60)
    assert order == ["b", "c", "a"]


def test_a_table_that_begins_has_its_turn_until_its_first_batch_is_there() -> None:
    now = 0.0
    shared = Turns(1, clock=lambda: now)
    assert shared.may_begin("a")
    now = turns.FIRST_BATCH_S * 0.9
    assert not shared.may_begin("b")
    now = turns.FIRST_BATCH_S * 1.1  # Kafka is away
    assert shared.may_begin("b")


@pytest.mark.parametrize("order", ["ab", "ba"])
def test_a_table_that_has_nothing_to_begin_with_holds_nobody_up(order: str) -> None:
    shared = Turns(1)
    assert [shared.may_begin(name) for name in "abc"] == [True, False, False]
    assert shared.begin_awaited()
    for name in order:
        shared.begun(name)
    assert shared.may_begin("c")
    assert not shared.begin_awaited()


def test_a_turn_for_a_commit_is_not_given_back_by_an_idle_look() -> None:
    shared = Turns(1)
    assert shared.may_begin("a")
    with shared.turn("a"):
        shared.begun("a")
        assert not shared.may_begin("b")


def test_a_huge_batch_does_not_keep_the_others_from_beginning() -> None:
    now = 0.0
    shared = Turns(1, clock=lambda: now)
    with shared.turn("huge"):
        assert not shared.may_begin("small")
        now = turns.BEGIN_PATIENCE_S
        assert shared.may_begin("small")
