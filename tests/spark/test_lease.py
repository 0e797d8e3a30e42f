"""A table has one writer: the second job is refused, a dead one's claim is taken, a late one notices."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from lake.config.errors import LakeError
from lake.config.waiting import wait_until
from spark_jobs.hudi import claims as claims_of_jobs
from spark_jobs.hudi import lease
from spark_jobs.hudi.claims import Claims, Held
from spark_jobs.hudi.lease import Lease, Leases, Lost
from spark_jobs.runtime import storage
from tests.clocks import replace_time

ARTISTS = ["artists_cow"]
NOT_TOLD = LakeError("the job goes on", "of a table that it lost", "nobody told it")


@pytest.fixture
def table(tmp_path: Path) -> str:
    return (tmp_path / "silver/moma/artists_cow").as_uri()


@pytest.fixture
def of(spark: SparkSession, table: str) -> Callable[[str], Lease]:
    return lambda holder: Lease(Claims(spark, table.rpartition("/")[0], holder))


def claims(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "silver/moma/.leases").iterdir())


def from_elsewhere(path: Path, seconds_ago: float) -> None:
    """The claim as a job on another machine would have written it."""
    path.write_text(json.dumps({**json.loads(path.read_text()), "host": "elsewhere"}))
    then = path.stat().st_mtime - seconds_ago
    os.utime(path, (then, then))


def test_the_second_is_refused_and_told_who_writes(of: Callable[[str], Lease], tmp_path: Path) -> None:
    of("stream one").take(ARTISTS)
    with pytest.raises(Held, match="artists_cow is written by stream one"):
        of("stream two").take(ARTISTS)
    assert len(claims(tmp_path)) == 1


def test_one_that_was_given_back_can_be_taken(of: Callable[[str], Lease]) -> None:
    first = of("one")
    first.take(ARTISTS)
    first.release_all()
    of("two").take(ARTISTS)


def test_a_job_has_one_claim_for_all_its_tables(of: Callable[[str], Lease], tmp_path: Path) -> None:
    first, second = of("one"), of("two")
    first.take(["a", "b", "c"])
    first.release("b")
    first.renew()
    assert len(claims(tmp_path)) == 1
    second.take(["b"])
    with pytest.raises(Held, match="moma/c is written by one"):
        second.take(["c", "d"])
    of("three").take(["d"])  # of two tables neither is taken, if one is held
    assert [first.holds(name) for name in "abc"] == [True, False, True]
    assert [second.holds(name) for name in "bcd"] == [True, False, False]
    assert len(claims(tmp_path)) == 3


def test_a_dead_claim_on_other_tables_is_left_alone(of: Callable[[str], Lease], tmp_path: Path) -> None:
    """Its job may only be slow, and nobody took them."""
    slow = of("slow")
    slow.take(ARTISTS)
    from_elsewhere(claims(tmp_path)[0], claims_of_jobs.EXPIRES_S + 1)
    of("other").take(["artworks_cow"])
    slow.renew()
    assert slow.holds("artists_cow")


def test_of_many_at_once_one_writes_at_most(of: Callable[[str], Lease]) -> None:
    won: list[str] = []

    def try_it(name: str) -> None:
        try:
            of(name).take(ARTISTS)
            won.append(name)
        except Held:
            pass

    threads = [threading.Thread(target=try_it, args=(str(number),)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) <= 1


def test_the_claim_of_a_dead_process_of_this_machine_is_no_claim(of: Callable[[str], Lease], tmp_path: Path) -> None:
    of("killed").take(ARTISTS)
    process = subprocess.Popen([sys.executable, "-c", "pass"])
    process.wait()
    (claim,) = claims(tmp_path)
    claim.write_text(json.dumps({**json.loads(claim.read_text()), "pid": process.pid}))
    of("successor").take(ARTISTS)
    assert claim not in claims(tmp_path)


def test_the_claim_of_another_machine_expires(of: Callable[[str], Lease], tmp_path: Path) -> None:
    of("far").take(ARTISTS)
    (claim,) = claims(tmp_path)
    from_elsewhere(claim, claims_of_jobs.EXPIRES_S - 30)
    with pytest.raises(Held):
        of("near").take(ARTISTS)
    from_elsewhere(claim, claims_of_jobs.EXPIRES_S + 1)  # dates of files tick each 4 ms
    of("near").take(ARTISTS)


@pytest.fixture
def told() -> list[str]:
    """What the job was told of a table that it lost."""
    return []


@pytest.fixture
def job(spark: SparkSession, table: str, told: list[str]) -> Iterator[Leases]:
    """One that holds the table."""
    job = Leases(spark, "job", told.append)
    job.await_all([table])
    yield job
    job.release_all()


def pass_by(seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """As for a process that was stopped for so long."""
    now = lease.boot_time_s
    monkeypatch.setattr(lease, "boot_time_s", lambda: now() + seconds)


def test_whoever_is_late_claims_again_before_it_writes(
    job: Leases, table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    former = claims(tmp_path)
    job.check(table)
    assert claims(tmp_path) == former and job.holds(table)
    pass_by(lease.LATE_S, monkeypatch)
    assert not job.holds(table)
    job.check(table)
    assert job.holds(table)
    assert len(claims(tmp_path)) == 1 and claims(tmp_path) != former


def test_nobody_writes_while_a_late_one_looks_for_others(
    job: Leases, table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pass_by(lease.LATE_S, monkeypatch)
    modified, seen = storage.modified, []

    def looked(*arguments: Any) -> list[tuple[str, float]]:
        seen.append(job.holds(table))
        return modified(*arguments)

    monkeypatch.setattr(storage, "modified", looked)
    job.check(table)
    assert seen == [False] and job.holds(table)


@pytest.mark.parametrize("step", ["write_text", "modified"])
def test_a_late_one_that_the_storage_failed_tries_again(
    job: Leases, table: str, step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pass_by(lease.LATE_S, monkeypatch)
    with monkeypatch.context() as away:
        away.setattr(storage, step, lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            job.check(table)
        assert not job.holds(table)
    job.check(table)
    assert job.holds(table) and len(claims(tmp_path)) == 1


def test_whoever_is_late_gives_way_to_another(
    job: Leases, table: str, of: Callable[[str], Lease], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (claim,) = claims(tmp_path)
    from_elsewhere(claim, claims_of_jobs.EXPIRES_S + 1)
    of("successor").take(ARTISTS)  # it took ours away
    pass_by(lease.LATE_S, monkeypatch)
    for _ in range(2):
        with pytest.raises(Lost, match="taken away"):
            job.check(table)
    assert not job.holds(table)


def test_a_late_one_that_meets_another_has_lost_for_good(
    job: Leases, table: str, of: Callable[[str], Lease], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (claim,) = claims(tmp_path)
    text = claim.read_text()
    from_elsewhere(claim, claims_of_jobs.EXPIRES_S + 1)
    other = of("successor")
    other.take(ARTISTS)
    claim.write_text(text)  # it looked, and will delete our claim in a moment
    pass_by(lease.LATE_S, monkeypatch)
    with pytest.raises(Lost, match=r"late: .* is written by successor"):
        job.check(table)
    other.release_all()
    with pytest.raises(Lost, match=r"late: .* is written by successor"):
        job.check(table)


def test_a_table_that_was_lost_before_a_write_ends_the_job(
    spark: SparkSession, table: str, tmp_path: Path, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No thread but the one that renews tells the job; all its tables are lost to it then."""
    monkeypatch.setattr(lease, "RENEW_S", 0.5)
    job = Leases(spark, "job", told.append)
    job.await_all([table, table + "_other"])
    (claim,) = claims(tmp_path)
    claim.unlink()
    with monkeypatch.context() as later:
        pass_by(lease.LATE_S, later)
        with pytest.raises(Lost, match="taken away"):
            job.check(table)
    wait_until(lambda: told != [], 120, NOT_TOLD)
    assert "taken away" in told[0]
    with pytest.raises(Lost, match="not claimed"):
        job.check(table + "_other")
    job.release_all()


def test_whoever_is_slow_loses_nothing_that_nobody_took(
    of: Callable[[str], Lease], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, write = of("slow"), storage.write_text
    ours.take(ARTISTS)

    def slow(*arguments: Any) -> None:
        write(*arguments)
        pass_by(claims_of_jobs.EXPIRES_S, monkeypatch)

    monkeypatch.setattr(storage, "write_text", slow)
    ours.renew()
    assert len(claims(tmp_path)) == 1
    monkeypatch.undo()
    assert ours.holds("artists_cow")


def test_a_claim_that_was_taken_away_while_it_was_renewed_is_lost(
    of: Callable[[str], Lease], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, write = of("slow"), storage.write_text
    ours.take(ARTISTS)
    from_elsewhere(claims(tmp_path)[0], claims_of_jobs.EXPIRES_S + 1)

    def slow(*arguments: Any) -> None:
        monkeypatch.undo()
        other = of("successor")
        other.take(ARTISTS)
        other.release_all()  # it has already ended
        write(*arguments)

    monkeypatch.setattr(storage, "write_text", slow)
    with pytest.raises(Lost, match="taken away"):
        ours.renew()
    assert ours.late() and claims(tmp_path) == []


@pytest.mark.skipif(not hasattr(time, "CLOCK_BOOTTIME"), reason="there is no clock that counts the time asleep")
def test_the_time_that_a_laptop_sleeps_counts() -> None:
    assert lease.CLOCK == time.CLOCK_BOOTTIME


def test_whose_claim_was_taken_away_does_not_put_it_back(of: Callable[[str], Lease], tmp_path: Path) -> None:
    taken = of("slow")
    taken.take(ARTISTS)
    claims(tmp_path)[0].unlink()
    with pytest.raises(Lost, match="taken away"):
        taken.renew()
    assert taken.late()  # it may write no more, though it is not
    assert claims(tmp_path) == []


def test_a_claim_that_is_released_while_it_is_renewed_does_not_come_back(
    of: Callable[[str], Lease], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = of("ours")
    ours.take(ARTISTS)
    releases = threading.Thread(target=ours.release_all)
    write = storage.write_text

    def slow(*arguments: Any) -> None:
        releases.start()
        releases.join(0.5)  # its release is under way, or done, where nothing holds it back
        write(*arguments)

    monkeypatch.setattr(storage, "write_text", slow)
    ours.renew()
    releases.join()
    ours.renew()  # as the thread that renews does when it has the claim in hand still
    assert claims(tmp_path) == []


def test_a_job_gives_way_once_it_saw_the_other_renew(
    spark: SparkSession, of: Callable[[str], Lease], table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alive = of("alive")
    alive.take(ARTISTS)
    from_elsewhere(claims(tmp_path)[0], 5)
    replace_time(monkeypatch, lease, sleep=lambda _: alive.renew())
    job = Leases(spark, "second", lambda reason: None)
    with pytest.raises(Held, match="written by alive"):
        job.await_all([table])
    job.release_all()


def test_a_job_waits_for_the_claim_of_a_dead_one_to_expire(
    spark: SparkSession, of: Callable[[str], Lease], table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of("dead").take(ARTISTS)
    (claim,) = claims(tmp_path)
    from_elsewhere(claim, 0)
    monkeypatch.setattr(claims_of_jobs, "EXPIRES_S", 0.5)
    job = Leases(spark, "second", lambda reason: None)
    job.await_all([table])
    assert job.holds(table)
    job.release_all()
    assert not job.holds(table) and claims(tmp_path) == []


def test_a_lost_table_ends_the_job(
    spark: SparkSession, table: str, told: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease, "RENEW_S", 0.05)
    job = Leases(spark, "job", told.append)
    job.await_all([table])
    claims(tmp_path)[0].unlink()
    wait_until(lambda: told != [], 120, NOT_TOLD)
    assert "taken away" in told[0]
    job.release_all()
