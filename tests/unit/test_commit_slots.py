"""Commit slots of the tables that share the cores."""

import threading
from collections.abc import Callable

import pytest

from spark_jobs.scheduling import commit_slots
from spark_jobs.scheduling.commit_slots import CommitSlots


class Waits:
    """A clock that stands still, and tells when another thread has read it: that one waits for a slot."""

    def __init__(self) -> None:
        self._readers: set[int | None] = set()
        self._changed = threading.Condition()

    def __call__(self) -> float:
        with self._changed:
            self._readers.add(threading.get_ident())
            self._changed.notify_all()
            return 0.0

    def await_reader(self, thread: threading.Thread) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: thread.ident in self._readers, 60)


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

    threads = [in_thread(lambda name=name: commit(name)) for name in "abcde"]  # type: ignore[misc]
    for thread in threads:
        thread.join(60)
    assert len(most) == 25
    assert max(most) <= 2


def test_tables_come_in_the_order_in_which_they_asked() -> None:
    clock, order, threads = Waits(), [], []
    shared = CommitSlots(1, clock)

    def commit(name: str) -> None:
        with shared.slot(name):
            order.append(name)

    with shared.slot("a"):
        for name in "bcd":
            threads.append(in_thread(lambda name=name: commit(name)))  # type: ignore[misc]
            clock.await_reader(threads[-1])
        assert (shared.waiting(), shared.holders()) == (["b", "c", "d"], {"a"})
    for thread in threads:
        thread.join(60)
    assert (order, shared.waiting(), shared.holders()) == (["b", "c", "d"], [], set())


def test_a_huge_batch_does_not_stop_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commit_slots, "STARVATION_S", 0.05)
    shared = CommitSlots(1)
    with shared.slot("huge"), shared.slot("small"):
        assert shared.holders() == {"huge", "small"}


def test_a_failed_commit_gives_its_slot_back() -> None:
    shared = CommitSlots(1)
    with pytest.raises(ZeroDivisionError), shared.slot("broken"):
        1 / 0  # noqa: B018
    assert shared.holders() == set()


def test_tables_are_busy_while_one_commits() -> None:
    shared = CommitSlots(1)
    assert not shared.busy()
    with shared.slot("a"):
        assert shared.busy()
    assert not shared.busy()
