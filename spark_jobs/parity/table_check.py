"""The check of one table: the source at one position and the lake that covers it, repeated until no row is in flux.

The first round compares all rows. Each later round compares only the keys that differed in the round before, at a
later position. All rows and differences stay in Spark.
"""

import json
import time
from functools import reduce
from typing import Any, Dict, Iterable, List, Optional, Tuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from spark_jobs.parity import compare, coverage, findings, hot_rows, lake_rows
from spark_jobs.parity.hashed import hashed
from spark_jobs.parity.hot_rows import HotRows
from spark_jobs.parity.lake_rows import LakeRows
from spark_jobs.parity.sessions import Sessions
from spark_jobs.runtime.pipeline import Table
from spark_jobs.runtime.waiting import Deadline, print_progress
from spark_jobs.sources import names
from spark_jobs.sources.engine import Columns, Snapshot, Source, engine

FEW = 1000  # up to this many keys are looked up one by one; for more, the whole table is read
BROADCAST = 100000
HOT = 2  # rounds; rows that still differ after them are considered hot rows
WHERE = {True: "differences", False: "unsettled"}


class TableCheck:
    """The comparison of one table over its rounds, and its part of the result."""

    def __init__(self, sessions: Sessions, table: Table, settle_s: float) -> None:
        """settle_s: how long after the first round rows in flux are compared again."""
        self._sessions = sessions
        self.spark = sessions.spark  # until its size is known
        self._settle_s = settle_s
        self.table = table
        self.name = table.full_name
        self.result: Dict[str, Any] = {"equal": False, "rounds": 0, "rows": {}, "differences": [], "unsettled": []}
        self.done = False
        self.end_offsets: Dict[int, int] = {}
        self._until: Optional[Deadline] = None
        self._before: Optional[DataFrame] = None
        self._keys: Optional[DataFrame] = None  # that the next round looks at; None: all
        self.few_keys: Optional[List[str]] = None  # the same, when they are few
        self._hot: Optional[HotRows] = None

    def begin(self, source: Source, snapshot: Snapshot) -> None:
        """Before the lake covers the snapshot: starts to read the rows that change all the time."""
        if self.result["rounds"] < HOT or self.few_keys is None:
            return
        columns = columns_of(snapshot, self.table)
        only = condition(self.table, columns, self.few_keys)
        if only is not None:
            print_progress("{}: {} rows change all the time, and are read often".format(self.name, len(self.few_keys)))
            self._hot = HotRows(source.repeated_rows(self.table.source_name, described(self.table, columns), only))

    def cover(self, ends: Dict[str, coverage.Ends], snapshot: Snapshot, deadline: Deadline) -> None:
        """Returns once the lake has all before the ends of the topics, by topic; NotCovered when the time is over."""
        coverage.reached(self.spark, self.table, ends[self.table.topic], snapshot.position, deadline)
        self.end_offsets = ends[self.table.topic]

    def end(self) -> None:
        """Called after the round, also after a failed one."""
        if self._hot is not None:
            self._hot.stop()
            self._hot = None

    def look(self, snapshot: Snapshot) -> None:
        """One round at one source position, which the lake covers. After an error the same round can be tried again."""
        late = self._until is not None and self._until.passed()
        columns = columns_of(snapshot, self.table)
        self.spark = self._sessions.of(snapshot.size(self.table.source_name))
        sides: Dict[str, LakeRows] = {}
        try:
            for name, side in read_sides(self.spark, self.table, snapshot, columns, self.few_keys):
                side.rows = compare.only_keys(side.rows, self._keys)
                sides[name] = side.keep()
            facts = findings.check_lake(self.spark, self.table, sides) if self._before is None else {}
            found = self._compare(sides, columns)
            counts = findings.counted(found)
            done = late or all(real for _, real in counts)
            shown = findings.shown(self.spark, self.table, found, counts, sides) if done else []
        finally:
            for side in sides.values():
                side.release()
        self.done = done
        self._conclude(snapshot, facts, shown)
        self._remember(found)

    def fail(self, where: str, detail: str) -> None:
        """Ends the check of this table with a difference that belongs to no row."""
        self.result["differences"].append({"where": where, "detail": detail})
        self.done = True

    def _compare(self, sides: Dict[str, LakeRows], columns: List[Any]) -> DataFrame:
        """The differences that are not settled, computed once: a second time they would show another moment."""
        found = compare.judged(differences(sides), self._before)
        if self._hot is not None and self._keys is not None:
            mapped = stored(self.table, described(self.table, columns))
            versions = hot_rows.versions(self.spark, self._hot.result(), self.table, mapped, self._keys)
            found = compare.unseen(found, versions)
        return found.localCheckpoint()

    def _remember(self, found: DataFrame) -> None:
        if self._until is None:
            self._until = Deadline(time.monotonic() + self._settle_s)
        if self.done:
            return
        keys = found.select("key").distinct().localCheckpoint()
        number = keys.count()
        self._before, self._keys = found, F.broadcast(keys) if number <= BROADCAST else keys
        self.few_keys = [row["key"] for row in keys.collect()] if number <= FEW else None

    def _conclude(self, snapshot: Snapshot, facts: Dict[str, Any], shown: List[Dict[str, Any]]) -> None:
        self.result.update(facts, rounds=self.result["rounds"] + 1, lsn=snapshot.position)
        for one in shown:
            self.result[WHERE[one.pop("real")]].append(one)
        self.result["equal"] = self.done and not self.result["differences"] and not self.result["unsettled"]
        every = [column.name for column in snapshot.columns(self.table.source_name)]
        self.result["left_out"] = [name for name in every if not self.table.takes(name)]


def columns_of(snapshot: Snapshot, table: Table) -> List[Any]:
    """The columns of the source. Raises WrongType if one of the key is missing."""
    columns = taken(table, snapshot)
    missing = set(table.source_key) - {column.name for column in columns}
    if missing:
        raise lake_rows.WrongType("the source has no column {}, of the key".format(", ".join(sorted(missing))))
    return columns


def taken(table: Table, snapshot: Snapshot) -> List[Any]:
    """The columns of the source that the lake has."""
    return [column for column in snapshot.columns(table.source_name) if table.takes(column.name)]


def described(table: Table, columns: List[Any]) -> Columns:
    """The types of columns, by their names in the source. Raises Unmapped."""
    types = {column.name: engine(table.engine).column_type(column) for column in columns}
    return {name: hashed(kind) if name in table.hashed else kind for name, kind in types.items()}


def stored(table: Table, mapped: Columns) -> Columns:
    """The same by their names in the lake."""
    named = names.of_table(table, list(mapped))
    return {named[name]: kind for name, kind in mapped.items()}


def read_sides(
    spark: SparkSession, table: Table, snapshot: Snapshot, columns: List[Any], few_keys: Optional[List[str]]
) -> Iterable[Tuple[str, LakeRows]]:
    """The lake and the source, one after the other."""
    mapped = described(table, columns)
    for target in table.targets:
        # The read-optimised view first: what it shows must be explained by a later state of the table.
        for kind in ["ro", "rt"] if target.type == "mor" else ["cow"]:
            yield kind, lake_rows.of_target(spark, target.path, kind, table, stored(table, mapped))
    texts = snapshot.rows(spark, table.source_name, mapped, condition(table, columns, few_keys))
    yield "source", lake_rows.of_source(texts, table, stored(table, mapped))


def condition(table: Table, columns: List[Any], few_keys: Optional[List[str]]) -> Optional[str]:
    """An SQL condition for rows that can have one of the keys; None when these are too many, or can't be looked up."""
    source, known = engine(table.engine), {column.name: column for column in columns}
    places = [place for place, name in enumerate(table.source_key) if source.reads_back(known[name])]
    if few_keys is None or not places:
        return None
    values = {json.loads(key)[places[0]] for key in few_keys} - {None}
    return source.any_of(table.source_key[places[0]], values)


def differences(sides: Dict[str, LakeRows]) -> DataFrame:
    """The differences between the source and the live rows of each lake table, and between the two lake tables."""
    lake = [name for name in ("cow", "rt") if name in sides]
    found = [compare.differing(compare.SOURCE + name, sides["source"].live(), sides[name].live()) for name in lake]
    if len(lake) == 2:
        found.append(compare.differing("cow = rt", sides["cow"].rows, sides["rt"].rows))
    return reduce(DataFrame.union, found)
