"""The jobs about sales on Kafka (docs/sales.md); all settings come as arguments from what starts them.

    spark-submit spark_jobs/sales_job.py seed --kafka kafka.bootstrap.servers=... --sink <topic> --sales <file>
        --output <result.json>
    spark-submit spark_jobs/sales_job.py console --kafka kafka.bootstrap.servers=... --source <topic>
        --results <folder> --checkpoint <folder> --status <file> --output <result.json>

A job that ends leaves its result in --output. One that streams runs until SIGTERM, prints a line of JSON for each
batch, and writes --status once a second. The exit code is 2 on bad input.
"""

import argparse
import signal
import threading
from typing import Any, Dict

from pyspark.sql import SparkSession

from spark_jobs.kafka.schema_registry import UnknownSchema
from spark_jobs.runtime import batch_job
from spark_jobs.runtime.batch_job import Refused
from spark_jobs.sales import ending, streams
from spark_jobs.sales.job import Job, add_arguments, opened
from spark_jobs.sales.progress import LOOK_EVERY_S, Report, follow

DONE = {"stopped": True}


def work(spark: SparkSession, args: Any) -> Dict[str, Any]:
    """Runs the job of the command line to its end."""
    job = opened(spark, args)
    try:
        return stream(job) if args.job in streams.JOBS else ending.JOBS[args.job](job)
    except UnknownSchema as unknown:
        raise Refused("{}; run: lake jobs run sales-avro-schemas".format(unknown)) from None


def stream(job: Job) -> Dict[str, Any]:
    """Runs a query until SIGTERM. It begins once its topic exists."""
    stopping = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopping.set())
    report = Report(job.spark, job.args.status, job.args.job)
    while not job.topics.exists(job.args.source):
        report.write(state="waiting", reason="topic {} does not exist yet".format(job.args.source))
        if stopping.wait(LOOK_EVERY_S):
            return DONE
    follow(streams.JOBS[job.args.job](job), report, stopping)
    return DONE


def options() -> argparse.ArgumentParser:
    found = batch_job.parser("sales", __doc__, "--output")
    add_arguments(found, sorted([*ending.JOBS, *streams.JOBS]))
    return found


if __name__ == "__main__":
    batch_job.run(options(), work)
