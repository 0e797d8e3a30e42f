"""Differences as people are shown them: the first keys of each pair of sides, with the columns that differ."""

import json
from typing import Any, Dict, List, Optional, Tuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from spark_jobs.parity import compare
from spark_jobs.parity.lake_rows import LakeRows
from spark_jobs.runtime.pipeline import Table

SHOWN = 20
Counts = Dict[Tuple[str, bool], int]


def counted(found: DataFrame) -> Counts:
    """How many keys by pair and whether they differ for good."""
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
    ours, theirs = sides[left].texts(spark, keys), sides[right].texts(spark, keys)
    found = []
    for key in keys:
        columns = compare.column_differences(sides[left].names, ours.get(key), theirs.get(key))
        found.append(
            {
                "where": pair,
                "key": named(table, key),
                "missing_in": left if key not in ours else right if key not in theirs else None,
                "columns": {name: {left: cut(mine), right: cut(other)} for name, (mine, other) in columns.items()},
            }
        )
    return found


def named(table: Table, key: str) -> Dict[str, str]:
    """The key columns and their texts."""
    return dict(zip(table.keys, json.loads(key)))


def cut(text: Optional[str]) -> Optional[str]:
    return text if text is None or len(text) <= 200 else text[:197] + "..."
