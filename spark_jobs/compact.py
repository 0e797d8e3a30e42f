"""Requests compaction, cleaning and archiving from the streaming job, and waits for its answers.

    spark-submit spark_jobs/compact.py --config <pipeline.json> --output <result.json>
        [--table moma.artists]... [--timeout-s 3600]

The result is {"compacted": [table, ...], "missing": [table, ...]}. The exit code is 0, or 1 if an answer is missing
when the time is over. A request without an answer is then withdrawn.
"""

import json
import time
import uuid
from typing import Any, Dict, List, Tuple

from pyspark.sql import SparkSession

from spark_jobs.hudi.table import target_name
from spark_jobs.hudi.table_services import COMPACT
from spark_jobs.runtime import batch_job, storage
from spark_jobs.runtime.pipeline import Table, add_names, chosen, given_names, read_pipeline
from spark_jobs.runtime.waiting import LOOK_EVERY_S, Deadline


def compact(spark: SparkSession, args: Any) -> Dict[str, Any]:
    """The tables that the streaming job has compacted, and those that it has not in time."""
    pipeline = read_pipeline(spark, args.config)
    asked = {name: uuid.uuid4().hex for table in chosen(pipeline, given_names(args)) for name in target_names(table)}
    for name, id in asked.items():
        storage.write_text(spark, *request(pipeline.requests, id, name))
    deadline = Deadline(time.monotonic() + args.timeout_s)
    while unanswered(spark, pipeline.requests, asked) and not deadline.passed():
        time.sleep(LOOK_EVERY_S)
    missing = unanswered(spark, pipeline.requests, asked)
    for id in asked.values():
        storage.delete(spark, "{}/{}.json".format(pipeline.requests, id))
        storage.delete(spark, answer(pipeline.requests, id))
    return {"compacted": sorted(set(asked) - set(missing)), "missing": missing}


def target_names(table: Table) -> List[str]:
    """The names under which the streaming job knows the tables: moma_mor.artists."""
    return [target_name(table, target) for target in table.targets]


def request(folder: str, id: str, name: str) -> Tuple[str, str]:
    """The file of a request, and its content (lake/clients/control.py)."""
    return "{}/{}.json".format(folder, id), json.dumps({"id": id, "verb": COMPACT, "arguments": {"table": name}})


def answer(folder: str, id: str) -> str:
    return "{}/answers/{}.json".format(folder, id)


def unanswered(spark: SparkSession, folder: str, asked: Dict[str, str]) -> List[str]:
    """The tables without an answer, in order. A compaction has no other answer than that it is done."""
    there = set(storage.names(spark, folder + "/answers"))
    return sorted(name for name, id in asked.items() if id + ".json" not in there)


if __name__ == "__main__":
    options = batch_job.parser("compact", __doc__, "--output", "--config")
    add_names(options)
    options.add_argument("--timeout-s", type=float, default=3600.0)
    batch_job.run(options, compact, lambda content: int(bool(content["missing"])))
