"""The proof of one table: the source at one position and the lake that covers it, again until nothing is in motion.

The first round compares all rows. Each later one looks only at the keys that differed in the round before, at a later
position: all that is compared, and what of it differs, stays in Spark.
"""

import json
import time
from functools import reduce
from typing import Any, Dict, List, Optional, Tuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from spark_jobs.hudi import timeline
from spark_jobs.parity import compare, hot_rows, lake_rows
from spark_jobs.parity.catch_up import Deadline, tell
from spark_jobs.parity.hot_rows import Samples
from spark_jobs.parity.lake_rows import LakeRows
from spark_jobs.runtime.pipeline import Table
from spark_jobs.sources.postgres.reader import Moment, literal, quoted
from spark_jobs.sources.postgres.types import PgType, SourceColumn, pg_type, reads_back

SHOWN = 20
FEW = 1000  # so many keys are asked for one by one, more by reading the whole table
BROADCAST = 100000
HOT = 2  # rounds after which rows that still differ are taken for ones that never rest
WHERE = {True: "differences", False: "unsettled"}


class TableProof:
    """The comparison of one table over its rounds, and its part of the result."""

    def __init__(self, spark: SparkSession, table: Table, settle_s: float) -> None:
        """settle_s: how long after the first round what is in motion is looked at again."""
        self._spark = spark
        self._settle_s = settle_s
        self.table = table
        self.name = "{}.{}.{}".format(table.database, table.schema, table.table)
        self.result: Dict[str, Any] = {
            "equal": False,
            "rounds": 0,
            "rows": {},
            "differences": [],
            "unsettled": [],
        }
        self.done = False
        self.end_offsets: Dict[int, int] = {}
        self._until: Optional[Deadline] = None
        self._before: Optional[DataFrame] = None
        self._keys: Optional[DataFrame] = None
        self._few: Optional[List[str]] = None
        self._samples: Optional[Samples] = None

    def begin(self, moment: Moment) -> None:
        """Before the lake covers the moment: rows that never rest are asked for from now on."""
        if self.result["rounds"] < HOT or self._few is None:
            return
        columns = self._columns(moment)
        only = self._condition(columns)
        if only is not None:
            tell("{}: {} rows never rest; asking for them often".format(self.name, len(self._few)))
            self._samples = Samples(moment.source, hot_rows.query(self.table, *described(columns), only))

    def end(self) -> None:
        """After the round, however it went."""
        if self._samples is not None:
            self._samples.stop()
            self._samples = None

    def look(self, moment: Moment) -> None:
        """One round at one source position, which the lake covers. After an error the same round can be tried again."""
        late = self._until is not None and self._until.passed()
        columns = self._columns(moment)
        sides: Dict[str, LakeRows] = {}
        try:
            self._read(sides, moment, columns)
            told = self._check_lake(sides) if self._before is None else {}
            found = self._compare(sides, columns)
            counts = _counts(found)
            done = late or all(real for _, real in counts)
            shown = self._shown(found, counts, sides) if done else []
        finally:
            for side in sides.values():
                side.release()
        self.done = done
        self._conclude(moment, told, shown)
        self._remember(found)

    def fail(self, where: str, detail: str) -> None:
        """Ends the proof of this table with a difference that is no row."""
        self.result["differences"].append({"where": where, "detail": detail})
        self.done = True

    def _columns(self, moment: Moment) -> List[SourceColumn]:
        columns = moment.columns(self.table.schema + "." + self.table.table)
        missing = set(self.table.keys) - {column.name for column in columns}
        if missing:
            raise lake_rows.WrongType("PostgreSQL has no column {}, of the key".format(", ".join(sorted(missing))))
        return columns

    def _read(self, sides: Dict[str, LakeRows], moment: Moment, columns: List[SourceColumn]) -> None:
        names, types = described(columns)
        for target in self.table.targets:
            # The read-optimised view first: what it shows must be explained by a later state of the table.
            kinds = ["ro", "rt"] if target.type == "mor" else ["cow"]
            for kind in kinds:
                sides[kind] = self._kept(lake_rows.of_target(self._spark, target.path, kind, self.table, names, types))
        qualified = self.table.schema + "." + self.table.table
        texts = moment.rows(qualified, names, types, self._condition(columns))
        sides["source"] = self._kept(lake_rows.of_source(texts, self.table, names, types))

    def _kept(self, side: LakeRows) -> LakeRows:
        side.rows = compare.only_keys(side.rows, self._keys)
        return side.keep()

    def _condition(self, columns: List[SourceColumn]) -> Optional[str]:
        """Rows that can have one of the wanted keys, in SQL; None when they are too many, or can't be asked for."""
        known = {column.name: column for column in columns}
        asked = [place for place, name in enumerate(self.table.keys) if reads_back(known[name])]
        if self._few is None or not asked:
            return None
        values = {json.loads(key)[asked[0]] for key in self._few} - {None}
        texts = [literal(value) for value in sorted(values) if "\0" not in value]  # PostgreSQL has no such text
        return "{} IN ({})".format(quoted(self.table.keys[asked[0]]), ", ".join(texts)) if texts else "false"

    def _compare(self, sides: Dict[str, LakeRows], columns: List[SourceColumn]) -> DataFrame:
        """What is not settled. Kept without what it was made of: made again, it would be of another moment."""
        found = compare.judged(differences(sides), self._before)
        if self._samples is not None and self._keys is not None:
            seen = self._samples.result()
            versions = hot_rows.versions(self._spark, seen, self.table, *described(columns), self._keys)
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
        self._few = [row["key"] for row in keys.collect()] if number <= FEW else None

    # --- What is told.

    def _conclude(self, moment: Moment, told: Dict[str, Any], shown: List[Dict[str, Any]]) -> None:
        self.result.update(told, rounds=self.result["rounds"] + 1, lsn=moment.lsn)
        for one in shown:
            self.result[WHERE[one.pop("real")]].append(one)
        self.result["equal"] = self.done and not self.result["differences"] and not self.result["unsettled"]

    def _check_lake(self, sides: Dict[str, LakeRows]) -> Dict[str, Any]:
        """What the first round says of the lake alone."""
        found = {name: self._summary(name, side) for name, side in sides.items()}
        told: Dict[str, Any] = {"rows": {name: numbers["live"] for name, numbers in found.items()}}
        told["deleted"] = {name: found[name]["deleted"] for name in ("cow", "rt") if name in found}
        wrong: List[Dict[str, Any]] = []
        if "ro" in sides:
            told["ro_behind"], impossible = compare.lag(sides["rt"].rows, sides["ro"].rows)
            keys = compare.impossible(sides["rt"].rows, sides["ro"].rows, SHOWN) if impossible else []
            wrong += [self._wrong("ro", "this row was never in rt", key) for key in keys]
        for name in sorted(set(sides) - {"source"}):
            # Until its old partition is compacted, ro still shows a moved row where it was, too (case A18).
            moving = name == "ro" and told["ro_behind"] > 0
            wrong += self._check_side(name, sides[name], found[name], moving)
        return {**told, "differences": wrong + self._check_names(found)}

    def _summary(self, name: str, side: LakeRows) -> Dict[str, int]:
        numbers = side.summary()
        tell("{}: {} rows of {}".format(self.name, numbers["live"] + numbers["deleted"], name))
        return numbers

    def _check_side(self, name: str, side: LakeRows, found: Dict[str, int], moving: bool) -> List[Dict[str, Any]]:
        wrong = []
        if found["keys"] < found["live"] + found["deleted"] and not moving:
            for key, count in compare.duplicates(side.rows, SHOWN).items():
                wrong.append(self._wrong(name, "{} rows have this key".format(count), key))
        if found["placeholders"]:
            for key, columns in compare.placeholders(side.rows, SHOWN).items():
                wrong.append(self._wrong(name, "{} holds a placeholder".format(", ".join(columns)), key))
        return wrong

    def _check_names(self, found: Dict[str, Dict[str, int]]) -> List[Dict[str, Any]]:
        wrong = []
        # The first commit makes the name, too.
        for target in [one for one in self.table.targets if timeline.written(self._spark, one.path)]:
            for name in target.hive:
                kind = "cow" if target.type == "cow" else name[-2:]
                rows = found[kind]["live"] + found[kind]["deleted"]
                problem = lake_rows.name_problem(self._spark, name, target.path, kind, rows)
                wrong += [{"where": name, "detail": problem}] if problem else []
        return wrong

    def _wrong(self, where: str, detail: str, key: str) -> Dict[str, Any]:
        return {"where": where, "key": named(self.table, key), "detail": detail}

    def _shown(
        self, found: DataFrame, counts: Dict[Tuple[str, bool], int], sides: Dict[str, LakeRows]
    ) -> List[Dict[str, Any]]:
        """The first keys of each pair, with the columns that differ."""
        shown: List[Dict[str, Any]] = []
        for (pair, real), number in sorted(counts.items()):
            rows = found.where((F.col("pair") == pair) & (F.col("real") == real)).select("key").distinct()
            keys = [row["key"] for row in rows.orderBy("key").limit(SHOWN).collect()]
            shown += [{"real": real, **one} for one in self._versions(pair, keys, sides)]
            if number > len(keys):
                shown.append({"real": real, "where": pair, "detail": "and {} more keys".format(number - len(keys))})
        return shown

    def _versions(self, pair: str, keys: List[str], sides: Dict[str, LakeRows]) -> List[Dict[str, Any]]:
        left, right = pair.split(" = ")
        ours, theirs = sides[left].texts(self._spark, keys), sides[right].texts(self._spark, keys)
        versions = []
        for key in keys:
            columns = compare.column_differences(sides[left].names, ours.get(key), theirs.get(key))
            versions.append(
                {
                    "where": pair,
                    "key": named(self.table, key),
                    "missing_in": left if key not in ours else right if key not in theirs else None,
                    "columns": {name: {left: cut(mine), right: cut(other)} for name, (mine, other) in columns.items()},
                }
            )
        return versions


def described(columns: List[SourceColumn]) -> Tuple[List[str], List[PgType]]:
    """The names and types of columns. Raises Unmapped."""
    return [column.name for column in columns], [pg_type(column) for column in columns]


def differences(sides: Dict[str, LakeRows]) -> DataFrame:
    """Of the source and what is live in each lake table, and of the two lake tables in full."""
    lake = [name for name in ("cow", "rt") if name in sides]
    found = [compare.differing(compare.SOURCE + name, sides["source"].live(), sides[name].live()) for name in lake]
    if len(lake) == 2:
        found.append(compare.differing("cow = rt", sides["cow"].rows, sides["rt"].rows))
    return reduce(DataFrame.union, found)


def _counts(found: DataFrame) -> Dict[Tuple[str, bool], int]:
    """How many keys by pair and whether they differ for good."""
    rows = found.groupBy("pair", "real").agg(F.countDistinct("key").alias("keys")).collect()
    return {(row["pair"], row["real"]): row["keys"] for row in rows}


def named(table: Table, key: str) -> Dict[str, str]:
    """The key columns and their texts."""
    return dict(zip(table.keys, json.loads(key)))


def cut(text: Optional[str]) -> Optional[str]:
    return text if text is None or len(text) <= 200 else text[:197] + "..."
