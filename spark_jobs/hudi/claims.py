"""The claims of jobs on tables of one folder: small files on its storage."""

import itertools
import json
import os
import socket
import uuid
from typing import Any, Dict, Iterable

from pyspark.sql import SparkSession

from spark_jobs.runtime import storage

FOLDER = ".leases"  # beside the tables
EXPIRES_S = 90.0  # a claim that is older than another one by this counts as dead
Listed = Dict[str, float]  # modification times (s, by the storage's own clock) by the names of claims


class Held(Exception):
    """Another job writes the table. Arguments: the reason, the job, the modification time of its claim."""


class Claims:
    """All claims in the folder, seen by one job. A name begins with the job that wrote it."""

    def __init__(self, spark: SparkSession, folder: str, holder: str) -> None:
        self.folder = folder
        self._spark = spark
        self._job = uuid.uuid4().hex
        self._numbers = itertools.count(1)
        self._content = {"holder": holder, **process()}

    def put(self, tables: Iterable[str]) -> str:
        """Writes a new claim of this job on these tables, and returns its name."""
        name = "{}-{}".format(self._job, next(self._numbers))
        storage.write_text(self._spark, self._path(name), json.dumps({**self._content, "tables": sorted(tables)}))
        return name

    def listed(self) -> Listed:
        return dict(storage.modified(self._spark, "{}/{}".format(self.folder, FOLDER)))

    def delete(self, name: str) -> None:
        storage.delete(self._spark, self._path(name))

    def delete_own(self, listed: Listed, but: str) -> None:
        """Deletes all claims of this job but one: also those that it wrote when the storage then failed."""
        for name in listed:
            if job_of(name) == self._job and name != but:
                self.delete(name)

    def refuse_others(self, listed: Listed, own: str, tables: Iterable[str]) -> None:
        """Deletes dead claims of other jobs on these tables. Raises Held when one is alive."""
        if own not in listed:
            raise Held("{} was taken meanwhile".format(self.folder), "", 0.0)
        for name, changed in sorted(listed.items()):
            other = {} if job_of(name) == self._job else self._read(name)
            for table in sorted(set(tables).intersection(other.get("tables", ()))):
                if listed[own] - changed <= EXPIRES_S and not ended(other):
                    what = "{}/{} is written by {}".format(self.folder, table, other["holder"])
                    raise Held(what, job_of(name), changed)
                self.delete(name)

    def _read(self, name: str) -> Dict[str, Any]:
        """The content of a claim; {} if the claim was deleted meanwhile."""
        try:
            return dict(json.loads(storage.read_text(self._spark, self._path(name))))
        except Exception:  # py4j wraps FileNotFoundException
            if name in self.listed():
                raise
            return {}

    def _path(self, name: str) -> str:
        return "{}/{}/{}".format(self.folder, FOLDER, name)


def job_of(name: str) -> str:
    """The job that wrote the claim of this name."""
    return name.partition("-")[0]


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
