"""The metastore: tables, columns and partitions registered by Hudi's own sync tool."""

from pyspark.sql import SparkSession

from spark_jobs.pipeline import Target


def sync(spark: SparkSession, target: Target) -> None:
    """Brings the metastore up to the table at target.path; does nothing when it is already there."""
    jvm, conf = spark._jvm, spark._jsc.hadoopConfiguration()
    properties = jvm.org.apache.hudi.common.config.TypedProperties()
    for name, value in target.options.items():
        properties.setProperty(name, value)
    tool = target.options["hoodie.meta.sync.client.tool.class"]
    system = jvm.org.apache.hadoop.fs.Path(target.path).getFileSystem(conf)
    helpers = jvm.org.apache.hudi.sync.common.util.SyncUtilHelpers
    helpers.runHoodieMetaSync(tool, properties, conf, system, target.path, "PARQUET")
