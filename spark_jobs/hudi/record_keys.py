"""The class that makes the text of each row's key."""

from dataclasses import replace

from pyspark.sql import SparkSession

from spark_jobs.hudi import timeline
from spark_jobs.runtime.pipeline import Target

GENERATOR = "hoodie.datasource.write.keygenerator.class"
OURS = {
    "org.apache.hudi.keygen.{}KeyGenerator".format(kind): "lake.hudi.{}Keys".format(kind)
    for kind in ("Nonpartitioned", "Simple", "Complex")
}


def with_own_keys(spark: SparkSession, target: Target) -> Target:
    """The target with our key generator, which takes every key of PostgreSQL (lake.hudi.KeyText).

    A table that exists keeps the one that made it: another text would be another key.
    """
    if timeline.exists(spark, target.path):
        kept = timeline.meta_client(spark, target.path).getTableConfig().getKeyGeneratorClassName()
    else:
        kept = None
    return replace(target, options={**target.options, GENERATOR: kept or own(target.options[GENERATOR])})


def own(generator: str) -> str:
    """Our class for one of Hudi's."""
    return OURS.get(generator, generator)
