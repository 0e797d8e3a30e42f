"""After a re-snapshot: counts the old rows of the lake that are orphaned, and those that the source still has.

    spark-submit spark_jobs/ghosts.py --config <pipeline.json> --output <result.json>
        --jdbc-url jdbc:postgresql://<host>:<port> --user <user> --bounds '{"moma.public.artists": 1234}'
        [--timeout-s 180]     --bounds: the least `_order` of each table that was sent again

All rows of the re-snapshot have an `_order` above the bound. A live row below it, in a lake that has caught up with the
source, was not sent again. If the source does not have its key, its delete was lost: the row is orphaned and must be
deleted. If the source has the key, the re-snapshot missed the row, and nothing may be deleted. The password is read
from LAKE_VERIFY_PASSWORD.
"""

import json
import time
from contextlib import closing
from typing import Any, Dict

from pyspark.sql import SparkSession

from spark_jobs.hudi import timeline
from spark_jobs.hudi.delete_orphans import bound_of, orphans
from spark_jobs.kafka.admin import Broker
from spark_jobs.parity import coverage, lake_rows
from spark_jobs.parity.lake_rows import WrongType
from spark_jobs.parity.table_check import described, stored, taken
from spark_jobs.runtime import batch_job
from spark_jobs.runtime.pipeline import Pipeline, Table, read_pipeline
from spark_jobs.runtime.waiting import Deadline, NotCovered
from spark_jobs.sources.engine import NoTable, Snapshot, Source, Unmapped, engine

Bounds = Dict[str, int]
Content = Dict[str, Any]


def look(spark: SparkSession, pipeline: Pipeline, source: Source, bounds: Bounds, deadline: Deadline) -> Content:
    """For each table {"ghosts": orphans by type, "unread": rows of the source that the re-snapshot missed}.

    Raises NotCovered when the lake does not catch up with the snapshot.
    """
    with closing(source.snapshot()) as snapshot, closing(Broker(spark, pipeline.kafka)) as broker:
        tables = [table for table in pipeline.tables if table.full_name in bounds]
        ends = coverage.captured(broker, source, snapshot.position, tables, deadline)
        for table in tables:
            coverage.reached(spark, table, ends[table.topic], snapshot.position, deadline)
        return {table.full_name: compared(spark, table, snapshot, bounds[table.full_name]) for table in tables}


def compared(spark: SparkSession, table: Table, snapshot: Snapshot, bound: int) -> Content:
    """The old rows of each target against the keys of the source at the snapshot."""
    if table.without_key:
        return {"ghosts": _old(spark, table, bound), "unread": 0}
    columns = described(table, taken(table, snapshot))
    texts = snapshot.rows(spark, table.source_name, columns)
    columns = stored(table, columns)
    present = lake_rows.of_source(texts, table, columns).rows.select("key")
    found: Content = {"ghosts": {}, "unread": 0}
    for target in table.targets:
        kind = "rt" if target.type == "mor" else "cow"
        side = lake_rows.of_target(spark, target.path, kind, table, columns)
        rows = side.rows.where("NOT deleted AND _order < {}".format(bound)).select("key").persist()
        unread = rows.join(present, "key").count() if rows.take(1) else 0
        found["unread"] = max(found["unread"], unread)
        found["ghosts"][target.type] = rows.count() - unread
        rows.unpersist()
    return found


def _old(spark: SparkSession, table: Table, bound: int) -> Dict[str, int]:
    """The rows without a key that were not sent again: all of them are orphaned, because every row was sent again."""
    found = {}
    for target in [one for one in table.targets if timeline.written(spark, one.path)]:
        rows = lake_rows.stored_rows(spark, target.path, "rt" if target.type == "mor" else "cow")
        found[target.type] = orphans(rows, bound_of(rows, bound, table)).count()
    return {target.type: found.get(target.type, 0) for target in table.targets}


def _all(spark: SparkSession, args: Any) -> Content:
    pipeline = read_pipeline(spark, args.config)
    bounds = json.loads(args.bounds)
    found: Content = {}
    wanted = [table for table in pipeline.tables if table.full_name in bounds]
    for database in sorted({table.database for table in wanted}):
        tables = [table for table in wanted if table.database == database]
        own = {table.full_name: bounds[table.full_name] for table in tables}
        server = pipeline.server(database, args.jdbc_url)
        source = engine(tables[0].engine).source(spark, server, tables[0], args.user)
        try:
            found.update(look(spark, pipeline, source, own, Deadline(time.monotonic() + args.timeout_s)))
        except (NotCovered, NoTable, Unmapped, WrongType) as problem:
            return {"error": "{}: {}".format(database, problem)}
    return {"tables": found}


if __name__ == "__main__":
    options = batch_job.parser("ghosts", __doc__, "--output", "--config", "--jdbc-url", "--user", "--bounds")
    options.add_argument("--timeout-s", type=float, default=180.0)
    batch_job.run(options, _all, lambda content: int("error" in content))
