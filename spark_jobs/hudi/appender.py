"""Commits without a Spark job: lake.hudi.Appender, for the tables and batches that it can write."""

from contextlib import closing, contextmanager
from typing import Any, Dict, Iterator

from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from spark_jobs.hudi import timeline
from spark_jobs.hudi.write_client import write_client
from spark_jobs.runtime.jvm import java, java_map
from spark_jobs.runtime.pipeline import Table, Target

CLASS = "lake.hudi.Appender"
REASON = "lake.NotPlain"


class NotPlain(Exception):
    """Only the general road (apply_batch.py) can apply a batch. Nothing of it was written."""


class Appender:
    """The appender of one table, as long as it has these columns."""

    def __init__(self, spark: SparkSession, target: Target, columns: StructType) -> None:
        self.columns = columns
        self._spark = spark
        kind = spark._jvm.org.apache.spark.sql.types.DataType.fromJson(columns.json())
        with closing(write_client(spark, target)) as client:
            self._java = java(spark, CLASS)(client.getConfig(), spark._jsc.hadoopConfiguration(), kind)

    def commit(self, rows: Any, metadata: Dict[str, str]) -> str:
        """The instant of a commit of these rows, of which each key has one. Raises NotPlain.

        rows: a Java iterator of InternalRow; or a DataFrame with the columns of the table, which all executors write
        """
        entries = java_map(self._spark, "java.util.HashMap", metadata)
        with plain_only():
            if isinstance(rows, DataFrame):
                return str(self._java.commitInStage(rows._jdf, entries))
            return str(self._java.commit(rows, entries))


@contextmanager
def plain_only() -> Iterator[None]:
    """Raises NotPlain for Java's exception of that name."""
    try:
        yield
    except Py4JJavaError as error:
        if error.java_exception.getClass().getName() == REASON:
            raise NotPlain(str(error.java_exception.getMessage())) from None
        raise


def is_appendable(spark: SparkSession, source: Table, target: Target) -> bool:
    """True if batches of the table may be plain. With Hudi 0.15 there is no appender."""
    plain = target.type == "mor" and not (source.partition or source.is_json or source.is_multiset)
    return plain and timeline.is_hudi_0_14(spark)
