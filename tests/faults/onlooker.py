"""An onlooker: reads a table again and again while it is written, and while what writes it is broken."""

import itertools
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from pyspark.sql import SparkSession

from tests.faults import checker, evidence
from tests.faults.evidence import Evidence, Key, Version
from tests.faults.rig import Rig
from tests.faults.source import Table
from tests.faults.trial import Void

REST_S = 3.0  # two cores: who reads all the time holds up what writes
SCANNERS = "org.apache.hudi.common.table.log"  # tell which blocks of a log they take, which they leave out, and why


@dataclass(frozen=True)
class Read:
    """What one query showed, and what may explain it: where each row was, and the table's files meanwhile."""

    began: float
    ended: float
    rows: list[Version]
    places: dict[Key, str]  # commit and file
    files: tuple[list[str], list[str]]  # as it began, and as it ended

    def lost(self, earlier: "Read") -> Iterator[str]:
        """Where the rows were that an earlier read has and this one has not."""
        gone = Counter(place for key, place in earlier.places.items() if key not in self.places)
        if gone:
            when, (before, after) = f"from {self.began:.3f} to {self.ended:.3f}", self.files
            yield f"read {when} lacks {dict(gone)}; files: {before}; after: {after}"


@contextmanager
def heard(spark: SparkSession) -> Iterator[None]:
    """Hudi's scanners write to standard error, for all onlookers of the session: its log levels are theirs together."""
    log4j = spark.sparkContext._jvm.org.apache.logging.log4j
    set_level = log4j.core.config.Configurator.setLevel
    set_level(SCANNERS, log4j.Level.INFO)
    try:
        yield
    finally:
        set_level(SCANNERS, log4j.Level.WARN)


class Onlooker:
    """Keeps what each read showed, by table type and in order, and the errors of those that were refused."""

    def __init__(self, rig: Rig, database: str, table: Table, rest_s: float = REST_S) -> None:
        self.table = table
        self.reads: dict[str, list[Read]] = {kind: [] for kind in table.types}
        self.refused: list[str] = []
        self.doubled: list[str] = []
        self._rig, self._rest_s = rig, rest_s
        self._folder = f"s3a://{rig.home.bucket}/silver/{database}/{table.name}"
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> "Onlooker":
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._over.set()
        self._thread.join()

    def judge(self, found: dict[str, Evidence], least: int) -> int:
        """How many rows were read, all as they should be (AssertionError); Void when few reads were answered."""
        name, reads = self.table.name, self.reads
        if len(self.refused) > sum(map(len, reads.values())) / 10:
            raise Void(f"{len(self.refused)} reads of {name} failed: {self.refused[-1]}")
        if few := [kind for kind, shown in reads.items() if len(shown) < least]:
            raise Void(f"fewer than {least} reads of {name}: {few}; {self.refused[-1:]}")
        wrong = [line for kind, shown in reads.items() for line in self._wrong(found[name], kind, shown)]
        assert not wrong + self.doubled, "\n".join([name, *wrong, *self.doubled])
        return sum(len(read.rows) for shown in reads.values() for read in shown)

    def _wrong(self, found: Evidence, kind: str, shown: list[Read]) -> Iterator[str]:
        yield from checker.reads(found, kind, [read.rows for read in shown])
        for earlier, read in itertools.pairwise(shown):
            yield from (f"{kind}: {line}" for line in read.lost(earlier))

    def _look(self) -> None:
        while not self._over.wait(self._rest_s):
            for kind, reads in self.reads.items():
                try:
                    reads.append(self._read(kind))
                except Exception as error:  # py4j: files that were cleaned away (docs/adr/0020), never a part of them
                    self.refused.append(str(error))

    def _read(self, kind: str) -> Read:
        path = f"{self._folder}_{kind}"
        began, before = time.time(), evidence.files(self._rig.home, path)
        rows = [row.asDict() for row in self._rig.spark.read.format("hudi").load(path).collect()]
        ended = time.time()
        self.doubled += [f"{kind} read from {began:.3f} to {ended:.3f}: {twins}" for twins in _twins(rows)]
        versions = [evidence.version_of(self.table, row) for row in rows]
        places = {  # of a commit one text, not one for each row: they are kept for as long as the trial lasts
            version.key: sys.intern(f"{row['_hoodie_commit_time']} {row['_hoodie_file_name']}")
            for version, row in zip(versions, rows, strict=True)
        }
        return Read(began, ended, versions, places, (before, evidence.files(self._rig.home, path)))


def _twins(rows: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """The rows of each key that is there more than once."""
    places: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        places.setdefault(row["_hoodie_record_key"], []).append(row)
    return [twins for twins in places.values() if len(twins) > 1]
