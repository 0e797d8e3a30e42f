"""The newest change of each key."""

from typing import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_jobs.runtime.frames import listed


def latest_by_key(rows: DataFrame, keys: Sequence[str]) -> DataFrame:
    """One row per key, the one with the greatest `_order`."""
    best = "max_by(struct({}), _order) AS row".format(listed(rows.columns))
    return rows.groupBy(*keys).agg(F.expr(best)).select("row.*")
