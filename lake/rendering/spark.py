"""The spark-submit command of a job, the same wherever it runs: here, as a step of EMR, and from the command line."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

# PostgreSQL's calendar is Spark 3's own: dates before 1900 are written and read without a shift.
REBASE = [
    f"spark.sql.{kind}RebaseModeIn{way}"
    for kind in ("parquet.datetime", "parquet.int96", "avro.datetime")
    for way in ("Read", "Write")
]
# Of every job that reads or writes the lake.
SESSION = {
    "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
    "spark.kryo.registrator": "org.apache.spark.HoodieSparkKryoRegistrar",
    "spark.sql.extensions": "org.apache.spark.sql.hudi.HoodieSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.hudi.catalog.HoodieCatalog",
    "spark.sql.session.timeZone": "UTC",
    **dict.fromkeys(REBASE, "CORRECTED"),
    # With it, a query of a merge-on-read table skips the log after the commit that was the newest when the query was
    # planned, but lists the files of a later one: base files of a commit without its log blocks (ADR 24).
    "spark.sql.optimizer.nestedSchemaPruning.enabled": "false",
    # The old structure cannot hold a NULL element.
    "spark.hadoop.parquet.avro.write-old-list-structure": "false",
    # A query or a compaction that merges a file slice opens all its log files at once, each with a connection, and
    # waits for the next one while it holds all of them (Hudi 0.14, AbstractHoodieLogRecordReader; apache/hudi#5767).
    # There are as many as commits between two compactions, for each task of an executor: with too few, none ends.
    "spark.hadoop.fs.s3a.connection.maximum": "1000",
    # A query of a merge-on-read table merges the log of a file slice in memory up to this share of 1 GB, in each task
    # at once and whatever the heap is, and the rest on disk. The default is 0.75. All merged rows are in memory a
    # second time: spark_jobs/hudi/table_services.py keeps them few.
    "spark.hadoop.compaction.memory.fraction": "0.1",
    # This many rows of a base file are in memory at once. The default is 4096: at 1 MB each, more than any heap.
    "spark.sql.parquet.columnarReaderBatchSize": "32",
}
# For a long-running application with many small commits; jobs that run once keep Spark's defaults.
STREAMING = {
    # The job names tables by their paths, and must commit while the metastore is down. With a Hive catalog Hudi would
    # call the metastore at a first commit.
    "spark.sql.catalogImplementation": "in-memory",
    "spark.scheduler.mode": "FAIR",  # a large batch of one table must not hold up the small ones
    "spark.sql.adaptive.enabled": "false",  # planning each stage again costs small batches more than it saves
    # A window holds this many rows before it may spill. Some windows are over whole messages: at 1 MB each, the
    # default of 4096 is more than any heap.
    "spark.sql.windowExec.buffer.in.memory.threshold": "64",
    # Spark keeps this many classes of generated code. The default is 100: a few tables need more, so each commit
    # compiled its classes again.
    "spark.sql.codegen.cache.maxEntries": "2000",
    "spark.sql.ui.explainMode": "simple",  # the plan of each query is kept for a page that nobody reads
    "spark.sql.streaming.pollingDelay": "50ms",  # default 10 ms: every idle table polls Kafka 100 times a second
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
    "spark.sql.streaming.minBatchesToRetain": "20",
    "spark.locality.wait": "0",
}

# How often YARN starts a driver within an hour. YARN itself must be told, too: its own limit is 2
# (yarn.resourcemanager.am.max-attempts), and an application cannot exceed it.
ATTEMPTS = 5


@dataclass(frozen=True)
class Place:
    """Where a job runs: its scheduler, the place of its files, and the settings of that place alone.

    flags are spark-submit's own (--master, --deploy-mode, sizes); package is "" where the folder is on Python's path.
    """

    flags: tuple[str, ...]
    main: str
    pools: str
    settings: Mapping[str, str]
    package: str = ""
    jars: tuple[str, ...] = ()


def spark_submit(script: str, name: str, place: Place, arguments: Sequence[str]) -> list[str]:
    """The arguments of `spark-submit` for spark_jobs/<script>.py, started as <name>. No argument is a secret."""
    settings = {**SESSION, **place.settings}
    if script == "stream":  # many queries at once, and it never ends
        settings |= {**STREAMING, **kept_by_yarn(name), "spark.scheduler.allocation.file": place.pools}
    flags = [flag for key in sorted(settings) for flag in ("--conf", f"{key}={settings[key]}")]
    package = ["--py-files", place.package] if place.package else []
    jars = ["--jars", ",".join(place.jars)] if place.jars else []
    return [*place.flags, "--name", name, *flags, *package, *jars, place.main, *arguments]


def continuous_arguments(pipeline: str, layers: Sequence[str]) -> list[str]:
    """The arguments of stream.py: its pipeline file, and the layers that it writes."""
    return ["--config", pipeline, "--layers", ",".join(layers)]


def name_tag(name: str) -> str:
    """How YARN knows the application of a job: start_job.sh and stop_job.sh look for it."""
    return f"lake-{name}"


def kept_by_yarn(name: str) -> dict[str, str]:
    """The settings of an application that never ends, known by its tag; without YARN they have no effect."""
    return {
        # The step is done when YARN has accepted the job: a deployment never waits for a job that never ends.
        "spark.yarn.submit.waitAppCompletion": "false",
        # YARN restarts the job forever, except if it fails more often than this in an hour.
        "spark.yarn.maxAppAttempts": str(ATTEMPTS),
        "spark.yarn.am.attemptFailuresValidityInterval": "1h",
        "spark.yarn.max.executor.failures": "100",
        "spark.yarn.executor.failuresValidityInterval": "1h",
        "spark.yarn.tags": name_tag(name),
    }
