"""Rows that never rest: the versions that the source shows of them in many snapshots, one after the other.

The lake covers a moment and goes on, so a row that changes a hundred times a second is always newer there than at that
moment. Asked from the moment on until the lake is read, the source shows most versions that the lake can hold then.
"""

import json
import threading
from typing import Any, Counter, List, Optional

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from spark_jobs.parity import lake_rows
from spark_jobs.runtime.pipeline import Table
from spark_jobs.sources.postgres.reader import SETTINGS, Source, column_texts, qualified, rows_of
from spark_jobs.sources.postgres.types import PgType

PAUSE_S = 0.005
CHARACTERS = 2**25  # of different rows, which the driver holds


class Samples:
    """Asks in a thread of its own until it is stopped.

    seen: how often each row was there, as a JSON array of its texts; times: how often the source was asked.
    """

    def __init__(self, source: Source, query: str) -> None:
        self.seen: Counter[str] = Counter()
        self.times = 0
        self._stopping = threading.Event()
        self._error: Optional[Exception] = None
        self._thread = threading.Thread(target=self._run, args=(source, query), daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join()

    def result(self) -> "Samples":
        """Stopped. Raises what the source answered instead of rows."""
        self.stop()
        if self._error is not None:
            raise self._error
        return self

    def _run(self, source: Source, query: str) -> None:
        try:
            connection = source.connect()
            try:
                self._ask(connection, query)
            finally:
                connection.close()
        except Exception as error:
            self._error = error

    def _ask(self, connection: Any, query: str) -> None:
        for setting in SETTINGS:
            connection.createStatement().execute("SET " + setting)
        room = CHARACTERS
        while room > 0 and not self._stopping.wait(PAUSE_S):
            rows = json.loads(str(rows_of(connection, query)[0][0]))
            room -= sum(len(row) for row in rows if row not in self.seen)
            self.seen.update(rows)
            self.times += 1


def query(table: Table, names: List[str], types: List[PgType], only: str) -> str:
    """All rows of a condition in one text: a JSON array of each row's JSON array of texts."""
    inner = "SELECT {} FROM {} WHERE {}".format(
        ", ".join(column_texts(names, types)), qualified(table.schema + "." + table.table), only
    )
    texts = ", ".join("c{}".format(index) for index in range(len(names)))
    return "SELECT coalesce(json_agg(to_json(ARRAY[{}])::text), '[]')::text FROM ({}) AS q".format(texts, inner)


def versions(
    spark: SparkSession, samples: Samples, table: Table, names: List[str], types: List[PgType], keys: DataFrame
) -> DataFrame:
    """key and hash of each version that a key of `keys` was seen in; hash null: there was no such row at times."""
    given = spark.createDataFrame(list(samples.seen.items()), "row string, times bigint")
    row = F.from_json("row", "array<string>", {"mode": "FAILFAST"})  # what is not understood must not look like no row
    texts = given.select(row.alias("row"), "times")
    columns = [F.col("row")[index].alias("c{}".format(index)) for index in range(len(names))]
    rows = lake_rows.of_source(texts.select("times", *columns), table, names, types, F.col("times")).live()
    present = rows.groupBy("key").agg(F.sum("_order").alias("times"))
    absent = keys.join(present, "key", "left").where("coalesce(times, 0) < {}".format(samples.times))
    return rows.select("key", "hash").union(absent.selectExpr("key", "CAST(NULL AS string)"))
