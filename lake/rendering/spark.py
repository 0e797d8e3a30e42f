"""Spark settings that a job has wherever it runs: here, and on EMR."""

# PostgreSQL's calendar is Spark 3's own: what is older than 1900 is written and read as it is, never shifted.
REBASE = (
    "spark.sql.parquet.datetimeRebaseModeInRead",
    "spark.sql.parquet.datetimeRebaseModeInWrite",
    "spark.sql.parquet.int96RebaseModeInRead",
    "spark.sql.parquet.int96RebaseModeInWrite",
    "spark.sql.avro.datetimeRebaseModeInRead",
    "spark.sql.avro.datetimeRebaseModeInWrite",
)
# Of every job that reads or writes the lake.
SESSION = {
    "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
    "spark.kryo.registrator": "org.apache.spark.HoodieSparkKryoRegistrar",
    "spark.sql.extensions": "org.apache.spark.sql.hudi.HoodieSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.hudi.catalog.HoodieCatalog",
    "spark.sql.session.timeZone": "UTC",
    **dict.fromkeys(REBASE, "CORRECTED"),
    # The old structure cannot hold a NULL element.
    "spark.hadoop.parquet.avro.write-old-list-structure": "false",
}
# Of a long-running application of many small commits; jobs that run once keep Spark's defaults.
STREAMING = {
    # It names tables by their paths, and must commit while the metastore is away: Hudi would ask it at a first commit.
    "spark.sql.catalogImplementation": "in-memory",
    "spark.scheduler.mode": "FAIR",  # a large batch of one table must not hold up the small ones
    "spark.sql.adaptive.enabled": "false",  # planning each stage anew costs small batches more than it saves
    "spark.sql.streaming.pollingDelay": "50ms",  # default 10 ms: every idle table asks Kafka a hundred times a second
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
    "spark.sql.streaming.minBatchesToRetain": "20",
    "spark.locality.wait": "0",
}
