"""The metastore: tables, columns and partitions registered by Hudi's own sync tool."""

from pyspark.sql import SparkSession

from spark_jobs.runtime import storage
from spark_jobs.runtime.jvm import java
from spark_jobs.runtime.pipeline import Target


def sync(spark: SparkSession, target: Target) -> None:
    """Brings the metastore up to the table at target.path; does nothing when it is already there."""
    properties = java(spark, "org.apache.hudi.common.config.TypedProperties")()
    for name, value in target.options.items():
        properties.setProperty(name, value)
    tool = target.options["hoodie.meta.sync.client.tool.class"]
    system, _ = storage.located(spark, target.path)
    conf = spark._jsc.hadoopConfiguration()
    helpers = java(spark, "org.apache.hudi.sync.common.util.SyncUtilHelpers")
    helpers.runHoodieMetaSync(tool, properties, conf, system, target.path, "PARQUET")
