"""The independent probe: a warm Spark session of its own that asks each table for its newest change.

spark-submit benchmarks/probe.py TABLE... ; a line "ready" comes when warm; each line on standard input
starts one round; each answer is a JSON line {"table", "seq", "started", "planned", "answered"} (epoch seconds).
The query reads the table's timeline between started and planned: it sees no later commit.
"""

import json
import sys
import time

from pyspark.sql import SparkSession


def main(tables: list[str]) -> None:
    """Answers until standard input ends."""
    spark = SparkSession.builder.appName("probe").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    for _ in range(10):
        for table in tables:
            newest(spark, table)
    print("ready", flush=True)
    for line in sys.stdin:
        table = line.strip()
        print(json.dumps({"table": table, **newest(spark, table)}), flush=True)


def newest(spark: SparkSession, table: str) -> dict[str, float]:
    """The greatest sequence number that a new query sees, and the times of the query."""
    spark.catalog.refreshTable(table)  # or the session would answer from the files that it already knows
    started = time.time()
    query = spark.sql("select max(seq) from " + table)
    planned = time.time()
    (row,) = query.collect()
    return {"seq": row[0], "started": started, "planned": planned, "answered": time.time()}


if __name__ == "__main__":
    main(sys.argv[1:])
