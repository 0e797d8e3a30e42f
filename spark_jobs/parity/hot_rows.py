"""Rows that change all the time: the versions that the source shows of them in many snapshots, one after the other.

The lake continues after the moment that it covers, so a row that changes a hundred times a second is always newer
there. The source is read repeatedly from that moment until the lake is read; so it shows most versions that the lake
can have.
"""

import threading
from typing import ContextManager, Counter, Optional

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from spark_jobs.parity import lake_rows
from spark_jobs.runtime.pipeline import Table
from spark_jobs.sources.engine import Columns, ReadRows

PAUSE_S = 0.005
CHARACTERS = 2**25  # of different rows, which the driver holds


class HotRows:
    """Reads the rows in a separate thread until it is stopped.

    seen: by row (a JSON array of its texts), how often the source had it; times: how often the source was read.
    """

    def __init__(self, reader: ContextManager[ReadRows]) -> None:
        self.seen: Counter[str] = Counter()
        self.times = 0
        self._stopping = threading.Event()
        self._error: Optional[Exception] = None
        self._thread = threading.Thread(target=self._run, args=(reader,), daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join()

    def result(self) -> "HotRows":
        """Stops, and returns itself. Raises the error if reading the source failed."""
        self.stop()
        if self._error is not None:
            raise self._error
        return self

    def _run(self, reader: ContextManager[ReadRows]) -> None:
        try:
            room = CHARACTERS
            with reader as read:
                while room > 0 and not self._stopping.wait(PAUSE_S):
                    rows = read()
                    room -= sum(len(row) for row in rows if row not in self.seen)
                    self.seen.update(rows)
                    self.times += 1
        except Exception as error:
            self._error = error


def versions(spark: SparkSession, hot: HotRows, table: Table, columns: Columns, keys: DataFrame) -> DataFrame:
    """key and hash of each version that a key of `keys` was seen in; hash null: there was no such row at times."""
    given = spark.createDataFrame(list(hot.seen.items()), "row string, times bigint")
    row = F.from_json("row", "array<string>", {"mode": "FAILFAST"})  # a bad text must not look like no row
    texts = given.select(row.alias("row"), "times")
    values = ["row[{0}] AS c{0}".format(index) for index in range(len(columns))]
    rows = lake_rows.of_source(texts.selectExpr("times", *values), table, columns, "times").live()
    present = rows.groupBy("key").agg(F.sum("_order").alias("times"))
    absent = keys.join(present, "key", "left").where("coalesce(times, 0) < {}".format(hot.times))
    return rows.select("key", "hash").union(absent.selectExpr("key", "CAST(NULL AS string)"))
