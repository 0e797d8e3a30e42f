"""The right to write a table: one job at a time has it, by a claim on the table's own storage.

A job has one claim for all its tables of a folder, so that an idle table costs nothing. It first writes its claim, then
lists all claims. A listing shows everything written before it (S3 since 2020, HDFS, a local disk). So if two jobs claim
a table at once, the later one sees the claim of the other, and at most one continues. Both may withdraw; they try again
after a random time. The age of a claim is the difference of two modification times on that storage, so the clocks of
the machines need not agree.

A job renews its claim by a new one, and goes on if the former one still exists: a job that takes a table deletes dead
claims on it first, so no other job had the table in between. A job that is slow loses nothing that no other job took.
But it stops writing before its claim counts as dead, until it has a new one.
"""

import logging
import math
import random
import threading
import time
from contextlib import contextmanager
from typing import Callable, Dict, Iterable, Iterator, List, Set, Tuple

from pyspark.sql import SparkSession

from spark_jobs.hudi.claims import Claims, Held
from spark_jobs.runtime.errors import root_cause

LOG = logging.getLogger("lease")
RENEW_S = 20.0
LATE_S = 60.0  # a job that has not renewed its claim for this long does not write; before claims.EXPIRES_S
LOOK_S = 2.0
# This clock includes the time while a laptop sleeps. Only Linux has it.
CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


class Lost(Exception):
    """Another job considered the claim dead, and may write by now."""


class Lease:
    """The right of one job to write tables of one folder. Threads may share it."""

    def __init__(self, claims: Claims) -> None:
        self._claims = claims
        self._claim = ""  # the newest one of this job
        self._tables: Set[str] = set()
        self._renewed = -math.inf
        self._lost = ""  # why; for good: what this job knows of its tables is old
        self._claiming = threading.Lock()  # a claim renewed while it is released would come back

    def take(self, tables: Iterable[str]) -> None:
        """Tries once to take these tables too, or none of them. Raises Held and Lost."""
        with self._claiming:
            new = set(tables) - self._tables
            if new:
                self._claim_again(self._tables | new, new)

    def renew(self) -> None:
        """Renews the claim, unless all is released. Raises Lost if another job considered it dead."""
        with self._claiming:
            if self._tables:
                self._claim_again(self._tables, set())

    def holds(self, table: str) -> bool:
        """True if this job may write the table now."""
        return table in self._tables and not self.late()

    def late(self) -> bool:
        """True if the claim is lost, or so old that others could soon consider it dead."""
        return bool(self._lost) or boot_time_s() - self._renewed > LATE_S

    def release(self, table: str) -> None:
        """Gives the table back, so that other jobs need not wait."""
        with self._claiming:
            kept = self._tables - {table}
            if kept and not self._lost:
                self._claim_again(kept, set())
            elif kept != self._tables:
                self._forget(kept)

    def release_all(self) -> None:
        with self._claiming:
            self._forget(set())

    def _claim_again(self, tables: Set[str], new: Set[str]) -> None:
        """Puts a claim on these tables in place of the former one. new: those that this job did not have.

        No thread may write before the claims of other jobs were listed.
        """
        if self._lost:
            raise Lost(self._lost)
        began, claim = boot_time_s(), self._claims.put(tables)
        listed = self._claims.listed()
        try:
            if self._tables:
                self._refuse_lost(listed, claim)
            self._claims.refuse_others(listed, claim, new)
        except (Held, Lost):
            self._claims.delete(claim)
            raise
        self._claim, self._tables, self._renewed = claim, tables, began
        self._claims.delete_own(listed, claim)

    def _refuse_lost(self, listed: Dict[str, float], claim: str) -> None:
        """Raises Lost if another job took one of the tables, or is about to."""
        if self._claim not in listed:
            self._lost = "the claim on tables of {} was taken away".format(self._claims.folder)
        elif self.late():
            try:
                self._claims.refuse_others(listed, claim, self._tables)
            except Held as held:
                self._lost = "a claim was late: {}".format(held.args[0])
        if self._lost:
            raise Lost(self._lost)

    def _forget(self, kept: Set[str]) -> None:
        if self._tables:
            self._tables = kept
            self._claims.delete_own(self._claims.listed(), but="")


class Leases:
    """All leases of one job, renewed by a thread; lost(reason) is called once when one could not be kept.

    holder: the name that other jobs see.
    """

    def __init__(self, spark: SparkSession, holder: str, lost: Callable[[str], None]) -> None:
        self._spark = spark
        self._holder = holder
        self._lost = lost
        self._held: Dict[str, Lease] = {}  # by folder
        self._ended = threading.Event()
        threading.Thread(target=self._keep, daemon=True).start()

    def take(self, table_path: str) -> None:
        """Takes one table, if this job does not hold it yet. Raises Held."""
        folder, table = _located(table_path)
        self._of(folder).take([table])

    def await_all(self, table_paths: List[str]) -> None:
        """Takes all tables or none: Held once another job proves alive. Waits until a dead job's claim ends."""
        by_folder: Dict[str, Set[str]] = {}
        for folder, table in map(_located, table_paths):
            by_folder.setdefault(folder, set()).add(table)
        try:
            for folder, tables in by_folder.items():
                self._await(self._of(folder), tables)
        except Held:
            self.release_all()
            raise

    def check(self, table_path: str) -> None:
        """Called before each write: renews a late claim, or raises Lost when this job may no longer write the table."""
        lease = self._of(_located(table_path)[0])
        if lease.late() and not self._ended.is_set():
            lease.renew()
        if not self.holds(table_path):
            raise Lost("{} is not claimed".format(table_path))

    def holds(self, table_path: str) -> bool:
        """True if this job may write the table now. After one loss it may write no table, because it ends."""
        folder, table = _located(table_path)
        return self._of(folder).holds(table) and not self._ended.is_set()

    def release(self, table_path: str) -> None:
        folder, table = _located(table_path)
        self._of(folder).release(table)

    def release_all(self) -> None:
        self._ended.set()
        for lease in list(self._held.values()):
            lease.release_all()

    def _of(self, folder: str) -> Lease:
        if folder not in self._held:  # each commit asks for it, and a new one would read /proc
            self._held.setdefault(folder, Lease(Claims(self._spark, folder, self._holder)))
        return self._held[folder]

    def _await(self, lease: Lease, tables: Iterable[str]) -> None:
        seen: Dict[str, float] = {}  # the modification time of each job's claim when it was first seen
        while True:
            try:
                return lease.take(tables)
            except Held as held:
                reason, job, changed = held.args
                if changed > seen.setdefault(job, changed):
                    raise
                LOG.warning("%s; waiting to see whether it is alive", reason)
                time.sleep(LOOK_S * (1 + random.random()))

    def _keep(self) -> None:
        while not self._ended.wait(RENEW_S):
            for lease in list(self._held.values()):
                try:
                    lease.renew()
                except Lost as lost:
                    self._ended.set()
                    self._lost(str(lost))
                    break
                except Exception as error:  # py4j: the storage does not answer
                    LOG.warning("a claim could not be renewed: %s", root_cause(error))


@contextmanager
def alone(spark: SparkSession, table_path: str, holder: str) -> Iterator[None]:
    """Holds the table as long as the block runs. Raises Held."""
    folder, table = _located(table_path)
    lease = Lease(Claims(spark, folder, holder))
    lease.take([table])
    try:
        yield
    finally:
        lease.release_all()


def boot_time_s() -> float:
    return time.clock_gettime(CLOCK)


def _located(table_path: str) -> Tuple[str, str]:
    """The folder of a table, and its name there."""
    folder, _, table = table_path.rstrip("/").rpartition("/")
    return folder, table
