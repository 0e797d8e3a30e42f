"""The messages in quarantine, as JSON.

spark-submit spark_jobs/quarantined.py --config <pipeline.json> --output <result.json> --databases moma,...
    [--id <id>]... [--all]      Without --all: the messages that wait. With --id: only these, with their bytes.
"""

from typing import Any, Dict, List

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from spark_jobs.quarantine import table
from spark_jobs.runtime import batch_job
from spark_jobs.runtime.pipeline import read_pipeline

SHOWN = ("id", "topic", "epoch", "partition", "offset", "reason", "state", "settled_by")
TIME = "yyyy-MM-dd'T'HH:mm:ss'Z'"


def facts(stored: DataFrame, ids: List[str], settled_too: bool) -> List[Dict[str, Any]]:
    """One dictionary per entry, by topic and offset. Entries that are named by id have their bytes, in base64."""
    if ids:
        stored = stored.where(F.col("id").isin(ids))
    elif not settled_too:
        stored = stored.where(F.col("state") == table.WAITING)
    times = [F.date_format(name, TIME).alias(name) for name in ("set_aside_at", "settled_at")]
    bytes_of = [F.base64(name).alias(name) for name in ("key", "value")] if ids else []
    found = stored.orderBy("topic", "epoch", "partition", "offset")
    rows = found.select(*SHOWN, *times, F.length("value").alias("bytes"), *bytes_of).collect()
    return [row.asDict() for row in rows]


def found(spark: SparkSession, args: Any) -> Dict[str, Any]:
    """The messages of the databases, each with its database."""
    pipeline = read_pipeline(spark, args.config)
    messages: List[Dict[str, Any]] = []
    for database in args.databases.split(","):
        stored = table.stored(spark, pipeline.quarantine[database].path)
        messages.extend(dict(entry, database=database) for entry in facts(stored, args.id, args.all))
    return {"messages": messages}


if __name__ == "__main__":
    options = batch_job.parser("quarantined", __doc__, "--output", "--config", "--databases")
    options.add_argument("--id", action="append", default=[])
    options.add_argument("--all", action="store_true")
    batch_job.run(options, found)
