"""An onlooker: reads a table again and again while it is written, and while what writes it is broken."""

import threading
import time
from types import TracebackType
from typing import Any

from tests.faults import checker, evidence
from tests.faults.evidence import Evidence, Version
from tests.faults.rig import Rig
from tests.faults.source import Table
from tests.faults.trial import Void

REST_S = 3.0  # two cores: who reads all the time holds up what writes


class Onlooker:
    """Keeps what each read showed, by table type and in order, and the errors of those that were refused."""

    def __init__(self, rig: Rig, database: str, table: Table, rest_s: float = REST_S) -> None:
        self.table = table
        self.reads: dict[str, list[list[Version]]] = {kind: [] for kind in table.types}
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
        wrong = [line for kind, shown in reads.items() for line in checker.reads(found[name], kind, shown)]
        assert not wrong + self.doubled, "\n".join([name, *wrong, *self.doubled])
        return sum(len(rows) for shown in reads.values() for rows in shown)

    def _look(self) -> None:
        while not self._over.wait(self._rest_s):
            for kind, reads in self.reads.items():
                try:
                    reads.append(self._read(kind))
                except Exception as error:  # py4j: files that were cleaned away (docs/adr/0020), never a part of them
                    self.refused.append(str(error))

    def _read(self, kind: str) -> list[Version]:
        began = time.time()
        rows = [row.asDict() for row in self._rig.spark.read.format("hudi").load(f"{self._folder}_{kind}").collect()]
        places: dict[str, list[dict[str, Any]]] = {}
        for row in rows:
            places.setdefault(row["_hoodie_record_key"], []).append(row)
        self.doubled += [
            f"{kind} read from {began:.3f} to {time.time():.3f}: {twins}" for twins in places.values() if len(twins) > 1
        ]
        return [evidence.version_of(self.table, row) for row in rows]
