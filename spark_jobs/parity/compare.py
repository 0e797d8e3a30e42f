"""Comparison of two sets of rows by key. Differences stay in Spark; only the first ones are collected, to be shown.

A side is a DataFrame of `key` (text), `hash` (text, null for a deleted row) and `_order` (null in the source): one row
per row of the table. Differences are a DataFrame of DIFFERENCE; where a side has no row, hash and order are null.
"""

import hashlib
import operator
import uuid
from functools import reduce
from typing import Any, Dict, Iterable, List, Optional, Tuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

PLACEHOLDER = "lake\0unavailable"  # what the connector sends for a large value that did not change (F8)
PLACEHOLDERS = (PLACEHOLDER, "__debezium_unavailable_value")  # Debezium's own, too
BEHIND = "old_order IS NULL OR old_order < new_order"
IMPOSSIBLE = "new_order IS NULL OR old_order > new_order OR (old_order = new_order AND old_hash <> new_hash)"
SOURCE = "source = "  # begins the name of a pair whose left side is the source
DIFFERENCE = ["pair", "key", "left", "right", "left_order", "right_order"]
# A round begins when the one before has read the lake, and reads a lake that has all that was committed by then. So a
# row of the lake that is still the same one, by its `_order`, was the right one at that moment, or is wrong.
LEFT_STANDS = "(left_order = was_left_order AND left <=> was_left)"
RIGHT_STANDS = "(right_order = was_right_order AND right <=> was_right)"
REAL = " OR ".join(
    [
        "(pair LIKE '{}%' AND {})".format(SOURCE, RIGHT_STANDS),
        "({} AND left_order < was_right_order)".format(LEFT_STANDS),
        "({} AND right_order < was_left_order)".format(RIGHT_STANDS),
        "(left <=> was_left AND right <=> was_right"
        " AND left_order <=> was_left_order AND right_order <=> was_right_order)",
    ]
)
# Both rows of the lake are now newer than both were before: the rows that differed are no longer there.
PASSED = (
    "least(left_order, right_order) > greatest(was_left_order, was_right_order)"
    " AND left_order <> right_order AND was_left_order <> was_right_order"
)


def differing(pair: str, left: DataFrame, right: DataFrame) -> DataFrame:
    """The rows that differ or exist on one side only, as DIFFERENCE. A deleted row counts as no row."""
    ours = left.select("key", F.col("hash").alias("left"), F.col("_order").alias("left_order"))
    theirs = right.select("key", F.col("hash").alias("right"), F.col("_order").alias("right_order"))
    rows = ours.join(theirs, "key", "full_outer").where("NOT left <=> right")
    return rows.select(F.lit(pair).alias("pair"), *DIFFERENCE[1:])


def judged(now: DataFrame, before: Optional[DataFrame]) -> DataFrame:
    """The differences that are not settled. `real`: True if it is a difference, False if the row is in flux.

    before: the result of the previous round; a key on which a pair agreed then, or agrees now, is settled.
    """
    if before is None:
        return now.withColumn("real", F.lit(False))
    was = before.select("pair", "key", *[F.col(name).alias("was_" + name) for name in DIFFERENCE[2:]])
    rules = [("real", REAL), ("passed", PASSED)]
    verdicts = [F.max(F.coalesce(F.expr(rule), F.lit(False))).alias(name) for name, rule in rules]
    return now.join(was, ["pair", "key"]).groupBy(*DIFFERENCE).agg(*verdicts).where("NOT passed").drop("passed")


def unseen(differences: DataFrame, seen: DataFrame) -> DataFrame:
    """The differences, without rows in flux whose lake row is one of the source's versions. seen: key, hash."""
    known = seen.toDF("seen_key", "seen")
    same = "NOT real AND pair LIKE '{}%' AND key = seen_key AND right <=> seen".format(SOURCE)
    return differences.join(known, F.expr(same), "left_anti")


def duplicates(rows: DataFrame, limit: int) -> Dict[str, int]:
    """Keys that several rows have, in any partitions, with their number."""
    found = rows.groupBy("key").count().where("count > 1").orderBy("key").limit(limit).collect()
    return {row["key"]: row["count"] for row in found}


def placeholder_names(columns: List[Tuple[str, str]], deleted: Column) -> Column:
    """The names of a row's columns that hold a placeholder. columns: name and Spark type of each.

    No text of PostgreSQL equals the connector's placeholder. Its other forms, and Debezium's own, may also be real
    values. In a live row they are compared with the source, so only deleted rows are searched for them.
    """
    names = []
    for name, kind in columns:
        column = F.col("`{}`".format(name))
        held = [CERTAIN[kind](column)] if kind in CERTAIN else []
        held += [deleted & LIKELY[kind](column)] if kind in LIKELY else []
        names += [F.when(F.coalesce(one, F.lit(False)), F.lit(name)) for one in held]
    if not names:
        return F.array().cast("array<string>")
    return F.array_distinct(F.filter(F.array(*names), lambda name: name.isNotNull()))


def placeholders(rows: DataFrame, limit: int) -> Dict[str, List[str]]:
    """Keys of rows with a placeholder, and the columns. rows: key, placeholders."""
    found = rows.where(F.size("placeholders") > 0).limit(limit).collect()
    return {row["key"]: list(row["placeholders"]) for row in found}


def _texts(placeholder: bytes) -> List[str]:
    identifier = uuid.UUID(bytes=hashlib.md5(placeholder).digest(), version=3)  # Java's UUID.nameUUIDFromBytes
    return [placeholder.decode(), str(identifier)]


def _any(conditions: Iterable[Column]) -> Column:
    return reduce(operator.or_, conditions)


def _numbers(kind: str) -> List[Column]:
    """In one call each: a Column per number would take longer than the comparison of the table."""
    return [F.expr("CAST(array({}) AS {})".format(", ".join(map(str, one)), kind)) for one in GIVEN]


GIVEN = [text.encode("utf-8") for text in PLACEHOLDERS]
# By the Spark type of a column: what is never a value of PostgreSQL.
CERTAIN = {
    "string": lambda column: column.contains(PLACEHOLDER),
    "array<string>": lambda column: F.exists(column, lambda text: text.contains(PLACEHOLDER)),
}
# What Debezium writes for a column of that type: the text, its bytes, its bytes as numbers, or a UUID of it.
LIKELY = {
    "string": lambda column: column.isin([form for one in GIVEN for form in (one.decode(), one.hex())]),
    "array<string>": lambda column: F.arrays_overlap(
        column, F.array(*[F.lit(form) for one in GIVEN for form in _texts(one)])
    ),
    "binary": lambda column: _any(column == F.lit(bytearray(one)) for one in GIVEN),
    "array<binary>": lambda column: _any(F.array_contains(column, bytearray(one)) for one in GIVEN),
    "array<int>": lambda column: _any(column == one for one in _numbers("array<int>")),
    "array<bigint>": lambda column: _any(column == one for one in _numbers("array<bigint>")),
}


def lag(newer: DataFrame, older: DataFrame) -> Tuple[int, int]:
    """How far `older` is behind `newer`: the number of keys that are missing or older there, and of impossible ones.

    A key is impossible if no earlier state of `newer` explains it: an unknown key, a higher `_order`, or the same
    `_order` with other data.
    """
    counts = ["count_if({})".format(state) for state in (BEHIND, IMPOSSIBLE)]
    behind, impossible = _states(newer, older).selectExpr(*counts).collect()[0]
    return int(behind), int(impossible)


def impossible(newer: DataFrame, older: DataFrame, limit: int) -> List[str]:
    """The keys of lag()'s second number."""
    return [row["key"] for row in _states(newer, older).where(IMPOSSIBLE).limit(limit).collect()]


def _states(newer: DataFrame, older: DataFrame) -> DataFrame:
    ours = newer.select("key", F.col("hash").alias("new_hash"), F.col("_order").alias("new_order"))
    theirs = older.select("key", F.col("hash").alias("old_hash"), F.col("_order").alias("old_order"))
    return ours.join(theirs, "key", "full_outer")


def only_keys(rows: DataFrame, keys: Optional[DataFrame]) -> DataFrame:
    """The rows of the given keys (key); all rows for None."""
    return rows if keys is None else rows.join(keys, "key", "left_semi")


def column_differences(names: List[str], left: Any, right: Any) -> Dict[str, Tuple[Any, Any]]:
    """Per differing column both texts. left, right: the texts in the order of names, or None for no row."""
    if left is None or right is None:
        return {}
    return {name: (ours, theirs) for name, ours, theirs in zip(names, left, right) if ours != theirs}
