"""Commit slots of the tables that share the cores."""

import threading
import time

import pytest

from spark_jobs.scheduling import commit_slots
from spark_jobs.scheduling.commit_slots import CommitSlots


def in_thread(work) -> threading.Thread:  # type: ignore[no-untyped-def]
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
                time.sleep(0.002)
                inside.remove(name)
            shared.await_next(name)

    threads = [in_thread(lambda name=name: commit(name)) for name in "abcde"]
    for thread in threads:
        thread.join(60)
    assert (len(most), max(most)) == (25, 2)


def test_a_slot_is_kept_for_the_batch_that_follows() -> None:
    now, order = 0.0, []
    shared = CommitSlots(1, clock=lambda: now)  # the slot is kept for as long as it takes this test to come here
    shared.await_next("a")
    other = in_thread(lambda: [shared.await_next("b"), order.append("b")])
    while not shared.busy():
        time.sleep(0.001)
    with shared.slot("a"):
        now = commit_slots.KEPT_AT_MOST_S * 1.5  # longer than it is kept: from here on it is held
        time.sleep(now)  # the other looks meanwhile
        order.append("a")
    other.join(60)
    assert order == ["a", "b"]


def test_a_table_without_changes_gives_its_slot_back() -> None:
    shared = CommitSlots(1)
    shared.await_next("idle")
    began = time.monotonic()
    with shared.slot("busy"):
        assert commit_slots.KEPT_S * 0.5 < time.monotonic() - began < commit_slots.STARVATION_S


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
    shared, order, threads = CommitSlots(1), [], []
    with shared.slot("a"):
        for name in "bcd":
            threads.append(in_thread(lambda name=name: [shared.await_next(name), order.append(name)]))
            while name not in shared.waiting():
                time.sleep(0.001)
    for thread in threads:
        thread.join(60)
    assert order == ["b", "c", "d"]


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
    shared, told = CommitSlots(1), []
    shared.await_next("a")
    assert not shared.busy()  # the slot is kept for what may not come
    waiting = in_thread(lambda: shared.await_next("b"))
    while not shared.busy():
        time.sleep(0.001)
    told.append(shared.busy())
    with shared.slot("a"):
        told.append(shared.busy())
    waiting.join(60)
    assert (told, shared.busy()) == ([True, True], False)
