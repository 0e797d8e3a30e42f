"""Plain messages: those that need nothing that only the general road knows. They are decoded without a Spark job.

The rows are those of decode_and_fit.py: the same SQL, which lake.stream.Rows compiles.
"""

from typing import Any, List, Optional

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import BinaryType, IntegerType, LongType, StructField, StructType

from spark_jobs.events.decode_and_fit import Stored, with_record_key
from spark_jobs.events.deletes import erase_deleted
from spark_jobs.events.flatten import GENERATION, MOVED_FROM, UNAVAILABLE
from spark_jobs.events.writer_schemas import WriterSchemas
from spark_jobs.runtime.jvm import java
from spark_jobs.runtime.sql_text import identifier

LEFT_OUT = "__left_out"  # of a row: true if the message lacks a value, or moves a row to another key
MESSAGES = StructType(
    [StructField("partition", IntegerType()), StructField("offset", LongType()), StructField("value", BinaryType())]
)


def plain_rows(spark: SparkSession, schemas: WriterSchemas, writer: int, stored: Stored) -> Optional[Any]:
    """The compiled rows, a Java lake.stream.Rows; None if the writer does not write exactly the table's columns."""
    schemas.learn([writer])
    rows = _as_stored(spark, schemas, writer, stored.columns)
    return None if rows is None else java(spark, "lake.stream.Rows")(rows._jdf)


def _as_stored(spark: SparkSession, schemas: WriterSchemas, writer: int, columns: StructType) -> Optional[DataFrame]:
    nothing = spark.createDataFrame(spark.sparkContext.emptyRDD(), MESSAGES)
    decoded = schemas.rows(nothing, writer, _generation(schemas.known[writer]))
    rows = with_record_key(erase_deleted(decoded, schemas.table), schemas.table)
    facts = [name for name in (UNAVAILABLE, MOVED_FROM) if name in rows.columns]
    found = {field.name: field.dataType for field in rows.schema if field.name not in (*facts, GENERATION)}
    if found != {field.name: field.dataType for field in columns}:
        return None
    left_out = " OR ".join("size({}) > 0".format(name) for name in facts) or "false"
    return rows.selectExpr(*map(identifier, columns.names), "({}) AS {}".format(left_out, LEFT_OUT), GENERATION)


def _generation(schema: Any) -> str:
    named: List[str] = [field["name"] for field in schema["fields"]]
    return "{} AS {}".format("row." + GENERATION if GENERATION in named else "CAST(NULL AS bigint)", GENERATION)
