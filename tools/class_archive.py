"""Writes spark.jsa: the classes that a Spark job with Hudi loads, as the JVM keeps them in memory.

    .venv/bin/python tools/class_archive.py emr-6.15.0

Loading and checking classes is about half of the work of a job that takes seconds. A JVM with this archive maps them
into memory (JEP 350); a JVM with another Java or other jars ignores it. A JVM writes the archive when it ends. So this
program runs a small job that works like real jobs: it writes and reads Hudi tables and Avro files in its own folder.
"""

import subprocess
import sys
import tempfile

from lake.config.environment import load_environment
from lake.local.spark_submit import JVM_OPTIONS, class_archive_path, spark_environment, spark_home
from lake.rendering.hudi import STORED_ORDER
from lake.rendering.spark import SESSION

WITHIN_S = 600
OPTIONS = {
    "hoodie.table.name": "t",
    "hoodie.datasource.write.recordkey.field": "id",
    **STORED_ORDER,
    "hoodie.datasource.write.keygenerator.class": "org.apache.hudi.keygen.NonpartitionedKeyGenerator",
    "hoodie.embed.timeline.server": "false",
    "hoodie.upsert.shuffle.parallelism": "2",
}
SETTINGS = {
    **SESSION,
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
}


def main(release: str) -> int:
    """Starts this file as a job on the Spark of the release. Its JVM writes the archive when it ends."""
    home = load_environment().model_copy(update={"release": release})
    archive = class_archive_path(home)
    settings = {
        **SETTINGS,
        "spark.driver.extraClassPath": str(home.spark_build / "spark" / "*"),
        "spark.driver.defaultJavaOptions": " ".join((*JVM_OPTIONS, f'"-XX:ArchiveClassesAtExit={archive}"')),
    }
    flags = [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
    command = [str(spark_home(home) / "bin" / "spark-submit"), "--master", "local[2]", *flags, __file__, "job"]
    archive.unlink(missing_ok=True)
    done = subprocess.run(command, env=spark_environment(home, {}), timeout=WITHIN_S, check=False)
    return done.returncode if archive.exists() else 1


def job() -> None:
    """The job that loads the classes."""
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    rows = spark.range(100).selectExpr(
        "id", "id AS _order", "cast(id AS string) AS t", "cast(id AS decimal(10,2)) AS d"
    )
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("COPY_ON_WRITE", "MERGE_ON_READ"):
            path = f"file://{folder}/{kind}"
            for _ in range(2):
                options = {**OPTIONS, "hoodie.datasource.write.table.type": kind}
                rows.write.format("hudi").options(**options).mode("append").save(path)
            stored = spark.read.format("hudi").load(path)
            stored.join(rows.select("id"), "id", "full_outer").groupBy("t").count().orderBy("t").collect()
        rows.write.format("avro").save(f"file://{folder}/avro")
        spark.read.format("avro").load(f"file://{folder}/avro").agg({"_order": "max"}).collect()
    spark.stop()


if __name__ == "__main__":
    if sys.argv[1:] == ["job"]:
        job()
    else:
        sys.exit(main(sys.argv[1]))
