"""The independent probe: a separate, warm Spark session that queries each table for its newest change.

spark-submit benchmarks/probe.py TABLE...

It prints a line "ready" when it is warm. Each line on standard input names a table to query at once, even while other
queries run. Each answer is a JSON line {"table", "seq", "planned", "answered"} (epoch seconds). A planned query has
read the table's timeline: it sees no later commit.
"""

import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from pyspark.sql import SparkSession

AT_ONCE = 8  # more than ever run at the same time


def main(tables: list[str]) -> None:
    """Answers until standard input ends."""
    spark = SparkSession.builder.appName("probe").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    for table in tables:
        while not spark.catalog.tableExists(table):  # it gets its name in the catalog after its first commit
            time.sleep(0.2)
    for _ in range(10):
        for table in tables:
            newest(spark, table)
    print("ready", flush=True)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for line in sys.stdin:
            pool.submit(answer, spark, line.strip())


def answer(spark: SparkSession, table: str) -> None:
    """Prints one answer in one write, because several threads print."""
    print(json.dumps({"table": table, **newest(spark, table)}) + "\n", end="", flush=True)


def newest(spark: SparkSession, table: str) -> dict[str, float]:
    """The greatest sequence number that a new query sees, and the times of the query."""
    spark.catalog.refreshTable(table)  # else the session would answer from the files that it already knows
    query = spark.sql("select max(seq) from " + table)
    planned = time.time()
    (row,) = query.collect()
    return {"seq": row[0], "planned": planned, "answered": time.time()}


if __name__ == "__main__":
    main(sys.argv[1:])
