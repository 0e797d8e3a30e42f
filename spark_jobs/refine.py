"""A table for analysts: Parquet, compressed with Snappy, made of the tables of the lake.

    spark-submit spark_jobs/refine.py --config <pipeline.json> --output <result.json> --path <folder> --name <table>
        (--table <database>.<schema>.<table> | --sql "select ...") [--partition <column>]...

Each run writes all rows to a new folder below --path, and then the table refined.<name> is switched to it. The folder
of the run before stays for queries that still read it. The result is {"rows", "path", "partitions": [{"partition",
"rows"}]}.
"""

import time
from typing import Any, Dict, List, Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from spark_jobs.events.flatten import ADDED
from spark_jobs.runtime import batch_job, storage
from spark_jobs.runtime.batch_job import Refused
from spark_jobs.runtime.pipeline import Table, chosen, read_pipeline
from spark_jobs.sql import parse
from spark_jobs.sql.refusals import refusals

DATABASE = "refined"
VERSION = "version="
KEPT = 2  # versions: of this run and of the one before


def refine(spark: SparkSession, args: Any) -> Dict[str, Any]:
    """The result of one run. Raises Refused for a query that writes or that Spark refuses, and for an unknown name."""
    folder = "{}/{}".format(args.path, args.name)
    version = "{}/{}{:.0f}".format(folder, VERSION, time.time() * 1000)
    rows = named(spark, args) if args.table else queried(spark, args)
    refuse_unknown(rows, args.partition)
    rows.write.partitionBy(*args.partition).option("compression", "snappy").parquet(version)
    switch(spark, args.name, version, rows, args.partition)
    delete_old(spark, folder)
    return {"path": version, **counted(spark.read.parquet(version), args.partition)}


def named(spark: SparkSession, args: Any) -> DataFrame:
    """The rows of the table."""
    return live_rows(spark, chosen(read_pipeline(spark, args.config), [args.table]))


def live_rows(spark: SparkSession, tables: Sequence[Table]) -> DataFrame:
    """The newest version of each row that the source has, in the columns of the source."""
    if len(tables) != 1:
        raise Refused("a table is made of one table; for more than one, write a query")
    newest = [name for target in tables[0].targets for name in target.hive if not name.endswith("_ro")]
    rows = spark.table(newest[0]).where("__deleted = 'false'")
    return rows.drop(*[name for name in rows.columns if name in ADDED or name.startswith("_hoodie_")])


def queried(spark: SparkSession, args: Any) -> DataFrame:
    """The rows of the query."""
    with refusals():
        parse.refuse_writing(spark, parse.parsed(spark, args.sql))
        return spark.sql(args.sql)


def refuse_unknown(rows: DataFrame, partition: List[str]) -> None:
    """Raises Refused for a column that is not there, and for a table without other columns."""
    for name in partition:
        if name not in rows.columns:
            raise Refused("there is no column '{}'; there are: {}".format(name, ", ".join(rows.columns)))
    if not set(rows.columns) - set(partition):
        raise Refused("every column is a partition column; leave one out")


def switch(spark: SparkSession, name: str, version: str, rows: DataFrame, partition: List[str]) -> None:
    """Makes the table show a version. The catalogue is changed only after all files are written."""
    spark.sql("CREATE DATABASE IF NOT EXISTS {}".format(DATABASE))
    spark.sql("DROP TABLE IF EXISTS {}.{}".format(DATABASE, name))
    columns = ["`{}` {}".format(one.name, one.dataType.simpleString()) for one in rows.schema.fields]
    by = " PARTITIONED BY ({})".format(", ".join("`{}`".format(one) for one in partition)) if partition else ""
    create = "CREATE TABLE {}.{} ({}) USING parquet{} LOCATION '{}'"
    spark.sql(create.format(DATABASE, name, ", ".join(columns), by, version))
    if partition:
        spark.sql("MSCK REPAIR TABLE {}.{}".format(DATABASE, name))


def delete_old(spark: SparkSession, folder: str) -> None:
    """Deletes all versions but the newest."""
    versions = sorted(name for name in storage.names(spark, folder) if name.startswith(VERSION))
    for name in versions[:-KEPT]:
        storage.delete(spark, "{}/{}".format(folder, name))


def counted(rows: DataFrame, partition: List[str]) -> Dict[str, Any]:
    """The number of rows, in all and by partition, as they were written."""
    if not partition:
        return {"rows": rows.count(), "partitions": []}
    names = F.concat_ws(
        "/", *[F.concat(F.lit(one + "="), F.coalesce(F.col(one).cast("string"), F.lit("null"))) for one in partition]
    )
    found = rows.groupBy(names.alias("partition")).count().orderBy("partition").collect()
    by = [{"partition": row["partition"], "rows": row["count"]} for row in found]
    return {"rows": sum(one["rows"] for one in by), "partitions": by}


if __name__ == "__main__":
    options = batch_job.parser("refine", __doc__, "--output", "--config", "--path", "--name")
    source = options.add_mutually_exclusive_group(required=True)
    source.add_argument("--table", default="")
    source.add_argument("--sql", default="")
    options.add_argument("--partition", action="append", default=[])
    batch_job.run(options, refine)
