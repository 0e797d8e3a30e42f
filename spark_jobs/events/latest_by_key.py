"""The newest change of each key."""

from typing import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_jobs.runtime.frames import listed
from spark_jobs.runtime.sql_text import identifier

FLOATS = ("float", "double", "array<float>", "array<double>")


def latest_by_key(rows: DataFrame, keys: Sequence[str]) -> DataFrame:
    """One row per key, the one with the greatest `_order`. To group by floats, Spark takes 0.0 and -0.0 for one key."""
    kinds = dict(rows.dtypes)
    texts = [
        F.to_json(F.array(F.col(identifier(name)))) if kinds[name] in FLOATS else F.col(identifier(name))
        for name in keys
    ]
    best = "max_by(struct({}), _order) AS row".format(listed(rows.columns))
    return rows.groupBy(*texts).agg(F.expr(best)).select("row.*")
