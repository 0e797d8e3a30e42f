"""The findings of a comparison for its report: the first keys that differ, and faults inside the lake.

Checks inside the lake: the read-optimised view, duplicate keys, placeholders, and the names of the table.
"""

import json
from typing import Any, Dict, List, Optional, Tuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from spark_jobs.hudi import timeline
from spark_jobs.parity import compare, lake_rows
from spark_jobs.parity.lake_rows import LakeRows
from spark_jobs.runtime.pipeline import Table
from spark_jobs.runtime.waiting import print_progress

SHOWN = 20
COPY = ("md5", "copy")  # of a row without a key
SOURCE = "source"
Counts = Dict[Tuple[str, bool], int]


def counted(found: DataFrame) -> Counts:
    """The number of keys, by pair and `real`."""
    rows = found.groupBy("pair", "real").agg(F.countDistinct("key").alias("keys")).collect()
    return {(row["pair"], row["real"]): row["keys"] for row in rows}


def shown(
    spark: SparkSession, table: Table, found: DataFrame, counts: Counts, sides: Dict[str, LakeRows]
) -> List[Dict[str, Any]]:
    """The first keys of each pair, with `real`."""
    findings: List[Dict[str, Any]] = []
    for (pair, real), number in sorted(counts.items()):
        rows = found.where((F.col("pair") == pair) & (F.col("real") == real)).select("key").distinct()
        keys = [row["key"] for row in rows.orderBy("key").limit(SHOWN).collect()]
        findings += [{"real": real, **one} for one in versions(spark, table, pair, keys, sides)]
        if number > len(keys):
            findings.append({"real": real, "where": pair, "detail": "and {} more keys".format(number - len(keys))})
    return findings


def versions(
    spark: SparkSession, table: Table, pair: str, keys: List[str], sides: Dict[str, LakeRows]
) -> List[Dict[str, Any]]:
    """The rows of the keys on both sides of a pair, where they differ."""
    left, right = pair.split(" = ")
    texts = {side: sides[side].texts(spark, keys) for side in (left, right)}
    if SOURCE in texts:  # it has no deleted rows
        texts = {side: sides[side].without_deleted(rows) for side, rows in texts.items()}
    found = []
    for key in keys:
        one, other = texts[left].get(key), texts[right].get(key)
        if table.without_key:  # a row that is missing has no other name than its values
            one, other = one or [None] * len(other or []), other or [None] * len(one or [])
        differing = compare.column_differences(sides[left].names, one, other).items()
        columns = {name: {left: cut(mine), right: cut(theirs)} for name, (mine, theirs) in differing}
        missing = next((side for side, rows in texts.items() if key not in rows), None)
        found.append({"where": pair, "key": named(table, key), "missing_in": missing, "columns": columns})
    return found


def named(table: Table, key: str) -> Dict[str, str]:
    """The key columns and their texts; without a key, the hash of the row's texts and the number of the copy."""
    return dict(zip(COPY if table.without_key else table.keys, json.loads(key)))


def cut(text: Optional[str]) -> Optional[str]:
    return text if text is None or len(text) <= 200 else text[:197] + "..."


def check_lake(spark: SparkSession, table: Table, sides: Dict[str, LakeRows]) -> Dict[str, Any]:
    """The checks inside the lake: facts for the result, and differences."""
    found = {name: _summary(table, name, side) for name, side in sides.items()}
    facts: Dict[str, Any] = {"rows": {name: numbers["live"] for name, numbers in found.items()}}
    facts["deleted"] = {name: found[name]["deleted"] for name in ("cow", "rt") if name in found}
    wrong: List[Dict[str, Any]] = []
    if "ro" in sides:
        newer, older = sides["rt"].identified, sides["ro"].identified
        facts["ro_behind"], impossible = compare.lag(newer, older)
        keys = compare.impossible(newer, older, SHOWN) if impossible else []
        wrong += [_wrong(table, "ro", "this row was never in rt", key) for key in keys]
    for name in sorted(set(sides) - {"source"}):
        # Until its old partition is compacted, ro also shows a moved row in its old partition (case A18).
        moving = name == "ro" and facts["ro_behind"] > 0
        wrong += _check_side(table, name, sides[name], found[name], moving)
    return {**facts, "differences": wrong + _check_names(spark, table, found)}


def _summary(table: Table, name: str, side: LakeRows) -> Dict[str, int]:
    numbers = side.summary()
    print_progress("{}: {} rows of {}".format(table.full_name, numbers["live"] + numbers["deleted"], name))
    return numbers


def _check_side(table: Table, name: str, side: LakeRows, found: Dict[str, int], moving: bool) -> List[Dict[str, Any]]:
    wrong = []
    if found["keys"] < found["live"] + found["deleted"] and not moving:
        for key, count in compare.duplicates(side.identified, SHOWN).items():
            wrong.append(_wrong(table, name, "{} rows have this key".format(count), key))
    if found["placeholders"]:
        for key, columns in compare.placeholders(side.rows, SHOWN).items():
            wrong.append(_wrong(table, name, "{} holds a placeholder".format(", ".join(columns)), key))
    return wrong


def _check_names(spark: SparkSession, table: Table, found: Dict[str, Dict[str, int]]) -> List[Dict[str, Any]]:
    wrong = []
    # The first commit makes the name, too.
    for target in [one for one in table.targets if timeline.written(spark, one.path)]:
        for name in target.hive:
            kind = "cow" if target.type == "cow" else name[-2:]
            rows = found[kind]["live"] + found[kind]["deleted"]
            problem = lake_rows.name_problem(spark, name, target.path, kind, rows)
            wrong += [{"where": name, "detail": problem}] if problem else []
    return wrong


def _wrong(table: Table, where: str, detail: str, key: str) -> Dict[str, Any]:
    return {"where": where, "key": named(table, key), "detail": detail}
