"""Poison messages: messages that can't become rows of their table.

Their writer is unknown, or they replace a row that was too large to be sent (lake.connect.LimitSize), or they can't be
decoded, have no key, or have a value that the lake type cannot hold: toast.unrepresentable() has the same conditions
under which decoding them as rows fails.
"""

from typing import Any, Dict, List, Optional, Tuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from spark_jobs.events import message_form, toast
from spark_jobs.kafka.messages import schema_id
from spark_jobs.kafka.schema_registry import Registry, UnknownSchema
from spark_jobs.runtime import frames
from spark_jobs.runtime.pipeline import Table
from spark_jobs.sources.engine import engine

REASON = "reason"
IDS = 2**32  # a frame is a zero and four bytes of id
NO_VALUE = "it has no value (a tombstone)"
NEEDED = ("__op", "__deleted")  # fields that the connector adds to every row, and that the writer of each table needs
TOO_LARGE = "lake.TooLarge"  # the name of the schema of the notice that replaces a row that is too large
TOO_LARGE_REASON = "the row with %s has %d bytes, the limit is %d: make it smaller in PostgreSQL"
# Of a table without a key: why a message names no row (lake.connect.NameRows).
UNNAMED = {
    "u": "it updates a row of a table that is captured as one whose rows are only ever added (without_key: append)",
    "d": "it deletes a row of a table that is captured as one whose rows are only ever added (without_key: append)",
    "r": "it is a row of a snapshot that was interrupted, and the stream may have it too: lake recover --new-slot",
}
# Of a multiset: such a message was sent before the definition said so.
UNNAMED_BEFORE = {
    "u": "it updates a row, and was sent when rows were only ever added (without_key: append): lake recover --new-slot",
    "d": "it deletes a row, and was sent when rows were only ever added (without_key: append): lake recover --new-slot",
    "r": UNNAMED["r"],
}
NO_SUCH_ROW = (
    "it updates or deletes a row that the lake does not have: a column was altered since the row was written, or the "
    "row was lost: lake recover --new-slot"
)
UNDECODABLE = "it can't be decoded with schema id {}, or its key is NULL"


class UnknownWriter(Exception):
    """The id in a message's frame is not that of a schema of the table's rows."""


class TooLarge(UnknownWriter):
    """The message replaces a row that was too large to be sent. schema: the schema of such messages."""

    def __init__(self, schema: Dict[str, Any]) -> None:
        super().__init__("it replaces a row that was too large to be sent")
        self.schema = schema


class NoSuchRow(Exception):
    """Messages update or delete rows that the table does not have. Nothing of the batch was written."""

    def __init__(self, offsets: List[int]) -> None:
        super().__init__("offset {}: {}".format(offsets[0], NO_SUCH_ROW))
        self.offsets = offsets


def own_schema(registry: Registry, writer: int, table: Table) -> Dict[str, Any]:
    """The flat schema of a frame's id (message_form.py).

    UnknownWriter when the connector of the table can't have written with it.
    UnknownSchema when the registry has no schema of the topic at all: then the registry is wrong, and the table waits.
    """
    if not 0 <= writer < IDS:
        raise UnknownWriter("it does not begin with a zero and the id of a schema")
    try:
        schema = message_form.flat(registry.schema(writer))
    except UnknownSchema as missing:
        registry.require(table.topic + "-value")
        raise UnknownWriter(str(missing)) from None
    if _name(schema) == TOO_LARGE:
        raise TooLarge(schema)
    problem = _problem(schema, table)
    if problem:
        raise UnknownWriter("schema id {} {}".format(writer, problem))
    return schema


def _name(schema: Dict[str, Any]) -> str:
    return ".".join(part for part in (schema.get("namespace"), schema.get("name")) if part)


def _problem(schema: Dict[str, Any], table: Table) -> Optional[str]:
    name = _name(schema)
    if name != message_form.record_name(table.topic) + ".Value":
        return "is that of {}".format(name or schema.get("type"))
    names = {field["name"] for field in schema["fields"]}
    lacking = [column for column in [*table.keys, *NEEDED] if column not in names]
    return "has no {}".format(", ".join(lacking)) if lacking else None


def annotate(messages: DataFrame, table: Table, registry: Registry, applied: bool = True) -> DataFrame:
    """The messages with the column `reason`: why one can't become a row of the table, null for those that can.

    messages: value binary, null for a tombstone, which no connector of the lake sends; other columns are kept.
    applied=False checks only if a message can be decoded. All messages are read once more, so this is for a batch that
    failed.
    """
    known, reasons = {}, [F.when(F.col("value").isNull(), NO_VALUE)]
    for writer in sorted(row["id"] for row in messages.select(schema_id().alias("id")).distinct().collect()):
        try:
            known[writer] = own_schema(registry, writer, table)
            reason = _reason(writer, known[writer], table, applied)
        except TooLarge as stand_in:
            known[writer] = stand_in.schema
            reason = _too_large(writer)
        except UnknownWriter as unknown:
            reason = F.lit(str(unknown))
        reasons.append(F.when(schema_id() == writer, reason))
    annotated = messages.select("*", *[_decoded(writer, schema) for writer, schema in known.items()])
    annotated = annotated.withColumn(REASON, F.coalesce(*reasons, F.lit(None).cast("string")))
    return annotated.drop(*map(_row, known))


def valid(messages: DataFrame, table: Table, registry: Registry) -> DataFrame:
    """The messages that can become rows of the table."""
    return annotate(messages, table, registry).where(F.col(REASON).isNull()).drop(REASON)


def find_poison(
    messages: DataFrame, table: Table, registry: Registry, error: Exception, applied: bool = True
) -> Tuple[DataFrame, Any]:
    """The messages of a batch that failed, annotated and persisted, and the first poison message.

    Raises `error`, with which the batch failed, when there is none, or when the messages can't be read.
    """
    try:
        given = ["timestamp"] if "timestamp" in messages.columns else []
        read = messages.select("partition", "offset", "key", "value", *given)
        annotated = _with_missing(annotate(read, table, registry, applied), error).persist()
        first = annotated.where(F.col(REASON).isNotNull()).orderBy("partition", "offset").first()
    except Exception:
        raise error from None
    if first is None:
        annotated.unpersist()
        raise error
    return annotated, first


def _with_missing(annotated: DataFrame, error: Exception) -> DataFrame:
    """With the reason of messages about rows that are missing. These are in one partition."""
    if not isinstance(error, NoSuchRow):
        return annotated
    offsets = [(offset,) for offset in error.offsets]
    missing = F.broadcast(frames.few(annotated.sparkSession, offsets, {"missing": "bigint"}))
    joined = annotated.join(missing, F.col("offset") == F.col("missing"), "left")
    reason = F.coalesce(REASON, F.when(F.col("missing").isNotNull(), NO_SUCH_ROW))
    return joined.withColumn(REASON, reason).drop("missing")


def _row(writer: int) -> str:
    return "_row_{}".format(writer)


def _decoded(writer: int, schema: Dict[str, Any]) -> Column:
    """The rows of one writer's messages. What can't be decoded becomes a row of NULLs."""
    row = message_form.record(schema, "PERMISSIVE")
    return F.when(schema_id() == writer, row).alias(_row(writer))


def _reason(writer: int, schema: Dict[str, Any], table: Table, applied: bool) -> Column:
    """The reason of each message of one writer, over its _decoded()."""
    row = F.col(_row(writer))
    absent = F.greatest(*[row[key].isNull() for key in table.keys], F.lit(False))
    why_not = UNNAMED_BEFORE if table.is_multiset else UNNAMED if table.without_key else {}
    unnamed = [F.when(row["__op"] == op, why) for op, why in why_not.items()]
    reason = F.when(absent, F.coalesce(*unnamed, _undecodable(writer, schema)))
    if not applied:
        return reason
    convert = engine(table.engine).convert
    return reason.otherwise(F.expr(toast.unrepresentable(schema, _row(writer), table.keys, convert)))


def _undecodable(writer: int, schema: Dict[str, Any]) -> Column:
    """The reason of a message without a key. In JSON it may be a notice: nothing else tells it from a row."""
    reason = F.lit(UNDECODABLE.format(writer))
    if not schema.get(message_form.JSON):
        return reason
    notice = message_form.some_fields(schema, {"key": "string", "bytes": "long", "limit": "long"}, "PERMISSIVE")
    told = F.format_string(TOO_LARGE_REASON, notice["key"], notice["bytes"], notice["limit"])
    return F.when(notice["limit"].isNotNull(), told).otherwise(reason)


def _too_large(writer: int) -> Column:
    """The reason of a message that replaces a row that was too large, over its _decoded()."""
    row = F.col(_row(writer))
    reason = F.format_string(TOO_LARGE_REASON, row["key"], row["bytes"], row["limit"])
    return F.when(row["bytes"].isNull(), UNDECODABLE.format(writer)).otherwise(reason)
