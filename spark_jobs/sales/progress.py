"""What a streaming job says of itself: a line of JSON for each batch, and a status file once a second."""

import json
import threading
import time
from typing import Any, Dict

from pyspark.sql import SparkSession
from pyspark.sql.streaming import StreamingQuery

from spark_jobs.runtime import storage

LOOK_EVERY_S = 1.0
NEVER = -1
Facts = Dict[str, Any]


class Report:
    """The status of one job; path: of its status file. It goes on from the status that the file had."""

    def __init__(self, spark: SparkSession, path: str, job: str) -> None:
        self._spark, self._path = spark, path
        self._facts: Facts = {"job": job}
        if storage.exists(spark, path):
            self._facts.update(json.loads(storage.read_text(spark, path)))

    def write(self, **facts: Any) -> None:
        """Writes all facts known so far, with the time."""
        self._facts.update(facts, at=time.time())
        storage.write_text(self._spark, self._path, json.dumps(self._facts))

    def ended(self, batch: Facts) -> None:
        """Notes a batch, and prints it."""
        self._facts.update(batch)
        print(json.dumps(dict(batch, job=self._facts["job"])), flush=True)


def of_batch(progress: Facts) -> Facts:
    """Number, offsets (the first is null before the first batch), messages and rows of state of a batch.

    progress: as Spark reports it.
    """
    (source,) = progress["sources"]
    state = [operator["numRowsTotal"] for operator in progress["stateOperators"]]
    return {
        "batch": progress["batchId"],
        "offsets": {"start": source["startOffset"], "end": source["endOffset"]},
        "rows": progress["numInputRows"],
        "state_rows": sum(state),
    }


def follow(query: StreamingQuery, report: Report, stopping: threading.Event) -> None:
    """Reports until the job is stopped; raises what the query failed with."""
    last = NEVER
    while query.isActive and not stopping.wait(LOOK_EVERY_S):
        for progress in query.recentProgress:
            if progress["batchId"] > last and progress["numInputRows"]:
                last = progress["batchId"]
                report.ended(of_batch(progress))
        report.write(state="running", reason="")
    failure = query.exception()
    if failure is not None and not stopping.is_set():
        report.write(state="failed", reason=str(failure))
        raise failure
    query.stop()
    report.write(state="stopped")
