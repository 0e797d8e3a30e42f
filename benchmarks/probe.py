"""The independent probe: a warm Spark session of its own that asks each table for its newest change.

spark-submit benchmarks/probe.py TABLE... ; a line "ready" comes when warm; each line on standard input
starts one round; each answer is a JSON line {"table", "started", "answered", "seq"} (epoch seconds).
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
        started = time.time()
        seq = newest(spark, table)
        print(json.dumps({"table": table, "started": started, "answered": time.time(), "seq": seq}), flush=True)


def newest(spark: SparkSession, table: str) -> int:
    """The greatest sequence number that a new query sees."""
    spark.catalog.refreshTable(table)
    return spark.sql("select max(seq) from " + table).first()[0]


if __name__ == "__main__":
    main(sys.argv[1:])
