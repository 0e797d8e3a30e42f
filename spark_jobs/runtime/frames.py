"""DataFrames in few calls into the JVM.

Each Column of a DataFrame, and each item of a list of them, is a separate call (py4j), and a small batch waits for all
of them: two thousand took six seconds on two busy cores. One text of SQL is one call, however long it is.
"""

import json
from typing import Any, Dict, List, Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from spark_jobs.runtime.jvm import java
from spark_jobs.runtime.sql_text import identifier

BETWEEN = "\0"  # the one character that no name and no value of PostgreSQL holds


def select(rows: DataFrame, columns: Sequence[str]) -> DataFrame:
    """The same as rows.selectExpr(*columns).

    It is also one step of the plan: Spark goes through all steps below each one, and Hudi repeats that with every step.
    """
    texts = java(rows.sparkSession, "java.util.regex.Pattern").compile(BETWEEN).split(BETWEEN.join(columns))
    return DataFrame(rows._jdf.selectExpr(texts), rows.sparkSession)


def listed(names: Sequence[str]) -> str:
    """Names of columns, as SQL has them in a list."""
    return ", ".join(identifier(name) for name in names)


def replaced(columns: Sequence[str], values: Dict[str, str]) -> List[str]:
    """The columns; those named in `values` (a name to an expression) have other values."""
    return ["{} AS {}".format(values.get(name, identifier(name)), identifier(name)) for name in columns]


def few(spark: SparkSession, rows: Sequence[Sequence[Any]], columns: Dict[str, str]) -> DataFrame:
    """Rows of texts and whole numbers as a DataFrame; columns: the type of each.

    createDataFrame would send them through a Python process in every task that reads them.
    """
    fields = ", ".join("{}: {}".format(identifier(name), kind) for name, kind in columns.items())
    text = json.dumps([dict(zip(columns, row)) for row in rows])
    read = F.from_json(F.lit(text), "array<struct<{}>>".format(fields))
    return spark.range(0, 1, 1, 1).select(F.explode(read).alias("row")).select("row.*")


def computed(rows: DataFrame) -> DataFrame:
    """The rows, computed once and without their plan. Give them to forget() at the end.

    persist() keeps the plan, and Spark goes through all of it with each later step: a plan that is joined with itself
    took two seconds of every batch. Rows that are lost with an executor are not computed again; the batch fails.
    """
    return rows.localCheckpoint(eager=False)


def forget(rows: DataFrame) -> None:
    """Frees the rows of computed() at once; Spark would free them at the next garbage collection."""
    plan = rows._jdf.queryExecution().analyzed()
    rows.sparkSession._jsc.sc().unpersistRDD(plan.rdd().id(), False)
