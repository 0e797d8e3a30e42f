"""Commit slots of the tables that share the cores."""

import threading
from collections.abc import Callable

import pytest

from spark_jobs.scheduling import commit_slots
from spark_jobs.scheduling.commit_slots import CommitSlots


class Clock:
    """A clock that stands still until a test moves it, and knows what other threads have read."""

    def __init__(self) -> None:
        self.now = 0.0
        self._read: dict[int, float] = {}  # by thread, the last time that it read
        self._changed = threading.Condition()

    def __call__(self) -> float:
        with self._changed:
            self._read[threading.get_ident()] = self.now
            self._changed.notify_all()
            return self.now

    def await_reader(self, thread: threading.Thread) -> None:
        """Returns once the thread has read the present time."""
        with self._changed:
            assert self._changed.wait_for(lambda: self._read.get(thread.ident or 0) == self.now, 60)


def in_thread(work: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def test_no_more_than_so_many_at_once() -> None:
    shared, inside, most = CommitSlots(2), [], []

    def commit(name: str) -> None:
        for _ in range(5):
            with shared.slot(name):
                inside.append(name)
                most.append(len(inside))
                inside.remove(name)
            shared.await_next(name)

    threads = [in_thread(lambda name=name: commit(name)) for name in "abcde"]  # type: ignore[misc]
    for thread in threads:
        thread.join(60)
    assert len(most) == 25
    assert max(most) <= 2


def test_a_table_waits_while_all_slots_are_taken() -> None:
    clock = Clock()
    shared = CommitSlots(2, clock=clock)
    with shared.slot("a"), shared.slot("b"):
        other = in_thread(lambda: shared.await_next("c"))
        clock.await_reader(other)
        assert (shared.waiting(), set(shared.holders())) == (["c"], {"a", "b"})
    other.join(60)
    assert (shared.waiting(), set(shared.holders())) == ([], {"c"})


def test_a_slot_is_kept_for_the_batch_that_follows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commit_slots, "KEPT_AT_MOST_S", 0.01)  # the other thread looks as often
    clock, order = Clock(), []
    shared = CommitSlots(1, clock=clock)
    shared.await_next("a")
    other = in_thread(lambda: [shared.await_next("b"), order.append("b")])
    clock.await_reader(other)
    with shared.slot("a"):
        clock.now = 0.015  # longer than it is kept: from here on it is held
        clock.await_reader(other)
        assert shared.waiting() == ["b"]
        order.append("a")
    other.join(60)
    assert order == ["a", "b"]


def test_a_table_without_changes_gives_its_slot_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commit_slots, "KEPT_AT_MOST_S", 0.01)
    clock = Clock()
    shared = CommitSlots(1, clock=clock)
    shared.await_next("idle")
    busy = in_thread(lambda: shared.await_next("busy"))
    clock.await_reader(busy)
    assert (shared.waiting(), set(shared.holders())) == (["busy"], {"idle"})
    clock.now = 0.01
    busy.join(60)
    assert (shared.waiting(), set(shared.holders())) == ([], {"busy"})


@pytest.mark.parametrize(("cuts", "kept"), [([], 1.0), ([0.1, 9.0], 0.3), ([0.01, 0.3], 0.25), ([0.3, 9.0], 0.9)])
def test_a_slot_is_kept_for_as_long_as_it_takes_to_cut_a_batch_here(cuts: list[float], kept: float) -> None:
    now = 0.0
    shared = CommitSlots(1, clock=lambda: now)
    for took in cuts:
        shared.await_next("a")
        now += took
        with shared.slot("a"):
            pass
    shared.await_next("a")
    assert shared.holders()["a"] - now == pytest.approx(kept)


def test_tables_come_in_the_order_in_which_they_asked() -> None:
    clock, order, threads = Clock(), [], []
    shared = CommitSlots(1, clock=clock)
    with shared.slot("a"):
        for name in "bcd":
            wait = lambda name=name: [shared.await_next(name), order.append(name), give_back(shared, name)]  # noqa: E731
            threads.append(in_thread(wait))
            clock.await_reader(threads[-1])
        assert shared.waiting() == ["b", "c", "d"]
    for thread in threads:
        thread.join(60)
    assert order == ["b", "c", "d"]


def give_back(shared: CommitSlots, name: str) -> None:
    with shared.slot(name):
        pass


def test_a_huge_batch_does_not_stop_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commit_slots, "STARVATION_S", 0.05)
    shared = CommitSlots(1)
    with shared.slot("huge"), shared.slot("small"):
        assert set(shared.holders()) == {"huge", "small"}


def test_a_failed_commit_gives_its_slot_back() -> None:
    shared = CommitSlots(1)
    with pytest.raises(ZeroDivisionError), shared.slot("broken"):
        1 / 0  # noqa: B018
    assert shared.holders() == {}


def test_tables_are_busy_while_one_commits_or_waits() -> None:
    clock = Clock()
    shared = CommitSlots(1, clock=clock)
    shared.await_next("a")
    assert not shared.busy(), "the slot is kept for what may not come"
    waiting = in_thread(lambda: shared.await_next("b"))
    clock.await_reader(waiting)
    assert shared.busy(), "one waits"
    with shared.slot("a"):
        assert shared.busy(), "one commits, and one waits"
    waiting.join(60)
    assert not shared.busy()
    with shared.slot("b"):
        assert shared.busy(), "one commits"
