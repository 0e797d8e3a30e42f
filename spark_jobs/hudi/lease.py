"""The right to write a table: one job at a time has it, by a claim on the table's own storage.

Each job first writes its claim, then lists all claims. A listing shows everything written before it (S3 since 2020,
HDFS, a local disk). So if two jobs claim a table at once, the later one sees the claim of the other, and at most one
continues. Both may withdraw; they try again after a random time. The age of a claim is the difference of two
modification times on that storage, so the clocks of the machines need not agree.

A job that could not renew its claim in time stops writing before the claim counts as dead. It then makes a new claim
with another name, as a new job would. It continues if its old claim still exists: a job that takes a table deletes the
dead claims on it first, so no other job had the table in between.
"""

import json
import logging
import math
import os
import random
import socket
import threading
import time
import uuid
from typing import Any, Callable, Dict, List

from pyspark.sql import SparkSession

from spark_jobs.runtime import storage
from spark_jobs.runtime.errors import root_cause

LOG = logging.getLogger("lease")
RENEW_S = 20.0
LATE_S = 60.0  # a job that has not renewed its claim for this long makes a new claim before it writes
EXPIRES_S = 90.0  # and after this long it counts as dead
LOOK_S = 2.0
TAKEN_AWAY = "the claim on {} was taken away"
# This clock includes the time while a laptop sleeps. Only Linux has it.
CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


class Held(Exception):
    """Another job writes the table."""


class Lost(Exception):
    """Another job considered the claim dead, and may write by now."""


class Lease:
    """The right to write the table at one path. holder: the name that other jobs see. Threads may share it."""

    def __init__(self, spark: SparkSession, table_path: str, holder: str) -> None:
        parent, _, name = table_path.rstrip("/").rpartition("/")
        self._spark = spark
        self._table = table_path
        self._folder = "{}/.leases/{}".format(parent, name)
        self._name = ""
        self._content = {"holder": holder, **process()}
        self._renewed = -math.inf
        self._lost = ""  # why; for good: what this job knows of the table is old
        self._released = False
        self._writing = threading.Lock()  # a claim renewed while it is released would come back

    def take(self) -> None:
        """Tries once to take the table. Held names the other job and its claim."""
        began = boot_time_s()
        self._name = uuid.uuid4().hex
        self._write()
        try:
            self._refuse_others(self._ages())
        except Held:
            self.release()
            raise
        self._renewed = began

    def renew(self) -> None:
        """Renews the claim, unless it is released. Raises Lost if another job considered it dead, or may have."""
        with self._writing:
            if self._released:
                return
            if not self._lost:
                self._lost = self._claim_again() if self.late() else self._go_on()
            if self._lost:
                raise Lost(self._lost)

    def late(self) -> bool:
        """True if the claim is lost, or so old that others could soon consider it dead."""
        return bool(self._lost) or boot_time_s() - self._renewed > LATE_S

    def release(self) -> None:
        """Deletes the claim, so that other jobs need not wait."""
        with self._writing:
            self._released = True
            storage.delete(self._spark, self._path(self._name))

    def _go_on(self) -> str:
        """Renews a claim that is in time. Returns why it is lost, or ''."""
        began = boot_time_s()
        if self._name not in self._ages():
            return TAKEN_AWAY.format(self._table)
        self._write()
        if self.late():  # another job may have removed the claim before this renewal
            return "the claim on {} was renewed too late".format(self._table)
        self._renewed = began
        return ""

    def _claim_again(self) -> str:
        """Makes a new claim in place of one that may count as dead. Returns why the table is lost, or ''.

        No thread may write before the claims of other jobs were listed.
        """
        began, former = boot_time_s(), self._name
        self._name = uuid.uuid4().hex
        try:
            self._write()
            ages = self._ages()
            if former not in ages:
                return TAKEN_AWAY.format(self._table)
            self._refuse_others(ages)
        except Held as held:
            return "the claim on {} was late: {}".format(self._table, held.args[0])
        except Exception:  # py4j: no answer. The old claim still shows whether another job took the table.
            self._name = former
            raise
        self._renewed = began
        return ""

    def _refuse_others(self, ages: Dict[str, float]) -> None:
        """Deletes dead claims and older ones of this job. Raises Held when another job's claim is alive."""
        mine = ages.pop(self._name, None)
        if mine is None:
            raise Held("{} was taken meanwhile".format(self._table), "", 0.0)
        for name, changed in sorted(ages.items()):
            other = self._read(name)
            if mine - changed > EXPIRES_S or ended(other) or other == self._content:
                storage.delete(self._spark, self._path(name))
            elif other:
                raise Held("{} is written by {}".format(self._table, other.get("holder")), name, changed)

    def _ages(self) -> Dict[str, float]:
        return dict(storage.modified(self._spark, self._folder))

    def _write(self) -> None:
        storage.write_text(self._spark, self._path(self._name), json.dumps(self._content))

    def _read(self, name: str) -> Dict[str, Any]:
        """The content of a claim; {} if the claim was deleted meanwhile."""
        try:
            return dict(json.loads(storage.read_text(self._spark, self._path(name))))
        except Exception:  # py4j wraps FileNotFoundException
            if name in dict(storage.modified(self._spark, self._folder)):
                raise
            return {}

    def _path(self, name: str) -> str:
        return "{}/{}".format(self._folder, name)


class Leases:
    """All leases of one job, renewed by a thread; lost(reason) is called once when one could not be kept."""

    def __init__(self, spark: SparkSession, holder: str, lost: Callable[[str], None]) -> None:
        self._spark = spark
        self._holder = holder
        self._lost = lost
        self._held: Dict[str, Lease] = {}
        self._ended = threading.Event()
        threading.Thread(target=self._keep, daemon=True).start()

    def take(self, table_path: str) -> None:
        """Takes one table, if this job does not hold it yet. Raises Held."""
        if table_path not in self._held:
            lease = Lease(self._spark, table_path, self._holder)
            lease.take()
            self._held[table_path] = lease

    def await_all(self, table_paths: List[str]) -> None:
        """Takes all tables or none: Held once another job proves alive. Waits until a dead job's claim ends."""
        try:
            for path in table_paths:
                self._await(path)
        except Held:
            self.release_all()
            raise

    def _await(self, path: str) -> None:
        seen: Dict[str, float] = {}  # the modification time of each claim when it was first seen, by name
        while True:
            try:
                return self.take(path)
            except Held as held:
                reason, name, changed = held.args
                if changed > seen.setdefault(name, changed):
                    raise
                LOG.warning("%s; waiting to see whether it is alive", reason)
                time.sleep(LOOK_S * (1 + random.random()))

    def check(self, table_path: str) -> None:
        """Called before each write: renews a late claim, or raises Lost when this job may no longer write the table."""
        lease = self._held.get(table_path)
        if lease is not None and lease.late() and not self._ended.is_set():
            lease.renew()
        if not self.holds(table_path):
            raise Lost("{} is not claimed".format(table_path))

    def holds(self, table_path: str) -> bool:
        """True if this job may write the table now. After one loss it may write no table, because it ends."""
        lease = self._held.get(table_path)
        return lease is not None and not lease.late() and not self._ended.is_set()

    def release(self, table_path: str) -> None:
        lease = self._held.pop(table_path, None)
        if lease is not None:
            lease.release()

    def release_all(self) -> None:
        self._ended.set()
        for path in list(self._held):
            self.release(path)

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


def boot_time_s() -> float:
    return time.clock_gettime(CLOCK)


def process() -> Dict[str, Any]:
    """This process, so that its successor on the same machine sees at once whether it lives."""
    return {"host": socket.gethostname(), "boot": boot(), "pid": os.getpid(), "started": started(os.getpid())}


def ended(other: Dict[str, Any]) -> bool:
    """True if the holder was a process of this machine that has ended."""
    here = other.get("boot") == boot() and other.get("host") == socket.gethostname() and bool(boot())
    return here and started(other["pid"]) != other["started"]


def boot() -> str:
    """An id of this start of the machine; "" where it is unknown."""
    return _content_of("/proc/sys/kernel/random/boot_id").strip()


def started(pid: int) -> str:
    """When a process started, in the machine's own ticks; "" when there is none."""
    fields = _content_of("/proc/{}/stat".format(pid)).rpartition(")")[2].split()
    return fields[19] if fields and fields[0] != "Z" else ""


def _content_of(path: str) -> str:
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ""
