"""The folder and the file of each archived message."""

from typing import Any, Dict

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from spark_jobs.archive.form import DAY, Form
from spark_jobs.events import message_form
from spark_jobs.events.validate import REASON
from spark_jobs.kafka.messages import schema_id

FILE = "__file"
FOLDER = "__folder"  # the value that names the folder of a message; NULL in an archive by partition, and of RAW
RAW = -2  # the writer id of messages that can't be decoded; no frame has it


class LostColumn(Exception):
    """A column that names the folders of the archive was dropped in the source."""


def framed(messages: DataFrame) -> DataFrame:
    """partition, offset, key, value, `id` (the writer schema), and the timestamp if there is one.

    With a `reason` it is RAW, and the key stays.
    """
    raw = "{} IS NOT NULL".format(REASON) if REASON in messages.columns else "false"
    writer, key = "if({}, {}L, id) AS id".format(raw, RAW), "if({}, key, NULL) AS key".format(raw)
    given = [name for name in ("timestamp",) if name in messages.columns]
    return messages.withColumn("id", schema_id()).selectExpr("partition", "offset", key, "value", writer, *given)


def with_folder(messages: DataFrame, form: Form, schemas: Dict[int, Dict[str, Any]]) -> DataFrame:
    """Adds FOLDER to what framed() gives. schemas: flat, by writer. Only the columns that name a folder are decoded."""
    folder = F.lit(None).cast("string")
    if form.by == DAY:
        folder = F.when(F.col("id") != RAW, F.date_format("timestamp", "yyyy-MM-dd"))
    for writer, schema in schemas.items() if form.columns else ():
        folder = F.when(F.col("id") == writer, _values(schema, form)).otherwise(folder)
    return messages.withColumn(FOLDER, folder)


def _values(schema: Dict[str, Any], form: Form) -> Column:
    """The texts of the columns that name a folder, as a JSON array. Raises LostColumn."""
    types = {field["name"]: message_form.branch(field["type"]) for field in schema["fields"]}
    for name in form.columns:
        if name not in types:
            raise LostColumn("the archive is by {}, which the table has no more: add it again".format(name))
    decoded = message_form.some_fields(schema, {name: types[name] for name in form.columns})
    texts = [decoded[name].cast("string") for name in form.columns]
    return F.to_json(F.array(*texts), {"ignoreNullFields": "false"})


def folders_of(files: DataFrame) -> Dict[str, str]:
    """FOLDER of each file that has one."""
    rows = files.where(F.col(FOLDER).isNotNull()).select(FILE, FOLDER).distinct().collect()
    return {row[0]: row[1] for row in rows}


def with_file(messages: DataFrame, max_records: int, is_scattered: bool = False) -> DataFrame:
    """Adds the file of each message, '<partition>+<10-digit start offset>', to what framed() gives.

    A file holds messages of one writer schema (an Avro file has one schema) and one FOLDER, at most max_records: those
    that are consecutive, or with is_scattered those of the whole batch. The file is computed without the values and
    then broadcast: windows over values of 1 MB each need more memory than there is.
    """
    known = messages if FOLDER in messages.columns else messages.withColumn(FOLDER, F.lit(None).cast("string"))
    keys = known.selectExpr("partition", "offset", "id", "{} AS folder".format(FOLDER))
    starts = _scattered_starts(keys, max_records) if is_scattered else _consecutive_starts(keys, max_records)
    name = "format_string('%d+%010d', partition, start) AS {}".format(FILE)
    return messages.join(F.broadcast(starts.selectExpr("partition", "offset", name)), ["partition", "offset"])


def _consecutive_starts(keys: DataFrame, max_records: int) -> DataFrame:
    """Adds `start`, the first offset of the file. keys: partition, offset, id, folder."""
    by_offset = "OVER (PARTITION BY partition ORDER BY offset)"
    follows = "lag(struct(id, folder)) {} <=> struct(id, folder)".format(by_offset)
    starts_of = keys.selectExpr("*", "CAST(NOT {} AS int) AS starts".format(follows))
    runs = starts_of.selectExpr("*", "sum(starts) {} AS run".format(by_offset))
    firsts = runs.selectExpr("*", "min(offset) OVER (PARTITION BY partition, run) AS first")
    return firsts.selectExpr("*", "first + (offset - first) DIV {0} * {0} AS start".format(max_records))


def _scattered_starts(keys: DataFrame, max_records: int) -> DataFrame:
    number = "(row_number() OVER (PARTITION BY partition, folder, id ORDER BY offset) - 1) DIV {}".format(max_records)
    parts = keys.selectExpr("*", "{} AS part".format(number))
    return parts.selectExpr("*", "min(offset) OVER (PARTITION BY partition, folder, id, part) AS start")
