"""The rows of a table as SQL over the decoded records of its topic: the streaming job and HoodieStreamer share it."""

from typing import Any, Dict, List, Sequence

from spark_jobs.runtime.pipeline import Table
from spark_jobs.runtime.sql_text import identifier, text_of_key
from spark_jobs.sources import names
from spark_jobs.sources.columns import lake_columns
from spark_jobs.sources.engine import engine

EPOCH_SIZE = 2**48  # offsets of one epoch of a topic; _order = epoch * EPOCH_SIZE + offset (F5)
UNAVAILABLE = "__unavailable"  # of a message: the columns whose unchanged large value it does not have
MOVED_FROM = "__moved_from"  # of a message: the key that its row had before
ROW = "__row"  # of a table without a key: what tells its rows apart (lake.connect.NameRows)
CONTENT = "__content"  # of a multiset: the hash of a row; WAS, of a message: that of the row before it
WAS = "__was"
ENDED_BY = "__ended_by"  # of a multiset: the place of the delete of a deleted row
GENERATION = "__run"  # of a message: which generation of the connector sent it (lake.connect.NameRun)
# What the pipeline adds to a row, and the tombstone of a deleted one keeps.
ADDED = {*names.ADDED, *names.OF_MESSAGES}
# Without a semicolon: Hudi's transformer (0.14, SqlFileBasedTransformer) ends a statement at each, also within a text.
NOT_HERE = "unchanged TOAST values are not archived, and only the streaming job can fill them in"


def order(epoch: int, offset: str) -> str:
    """The column `_order` of a record. offset: the column that holds its Kafka offset."""
    return "{}L + {} AS _order".format(epoch * EPOCH_SIZE, identifier(offset))


def erased(columns: Sequence[str], table: Table) -> List[str]:
    """The columns, without the data of deleted rows if the table removes them, or if Debezium invented them.

    Under hard delete the data are removed at once; key and order stay as a tombstone. Without it a redelivered older
    event would restore the row (Hudi forgets the order of a deleted key). Under REPLICA IDENTITY DEFAULT a delete
    contains only the key, and Debezium fills NOT NULL columns with 0, '' and 1970-01-01 (F7).
    """
    if keeps_deleted(table):
        return [identifier(name) for name in columns]
    kept = set(table.keys) | ADDED
    if table.replica_identity == "full":
        kept.update(table.partition_columns)
    lives = "CASE WHEN __deleted <> 'true' THEN {0} END AS {0}"
    return [identifier(name) if name in kept else lives.format(identifier(name)) for name in columns]


def keeps_deleted(table: Table) -> bool:
    """True if a deleted row keeps its last data, which the delete message contains."""
    return table.delete == "soft" and table.replica_identity == "full"


def record_key(table: Table) -> List[str]:
    """The column `_key` of a composite key: a JSON array of the values, which no separator in a value can confuse.

    A NULL in it is an error, as in a key of one column, where Hudi raises it.
    """
    if len(table.keys) == 1:
        return []
    text = "coalesce({}, raise_error('a column of the key is NULL'))"
    texts = [text.format(text_of_key(identifier(key))) for key in table.keys]
    return ["to_json(array({})) AS _key".format(", ".join(texts))]


def query(schema: Dict[str, Any], table: Table, offset: str, stored: Sequence[str] = ()) -> str:
    """One SELECT over <SRC>, the records of the archive as columns; schema is that of the records, offset included.

    stored: the columns that the table has; new ones come after them, because the metastore compares by position. A
    record with a missing value fails the query.
    """
    fields = [field for field in schema["fields"] if field["name"] not in (offset, *names.OF_MESSAGES)]
    may_miss = any(field["name"] == UNAVAILABLE for field in schema["fields"])
    decoded = [*lake_columns({"fields": fields}, "", engine(table.engine).convert), order(table.epoch, offset)]
    rows = "SELECT\n    {}\n  FROM <SRC>{}".format(",\n    ".join(decoded), _refuse_left_out() if may_miss else "")
    keys = record_key(table)
    if keys:
        rows = "SELECT\n  *,\n  {}\nFROM (\n  {}\n)".format(",\n  ".join(keys), rows)
    columns = [field["name"] for field in fields] + ["_order"] + ["_key"] * len(keys)
    ordered = sorted(columns, key=lambda name: stored.index(name) if name in stored else len(stored))
    return "SELECT\n  {}\nFROM (\n  {}\n)\n".format(",\n  ".join(erased(ordered, table)), rows)


def _refuse_left_out() -> str:
    """The condition that fails a record with a missing value. A delete may leave values out, because it needs none."""
    text = " WHERE CASE WHEN {0} IS NOT NULL AND __deleted <> 'true' THEN raise_error({1}) ELSE true END"
    return text.format(UNAVAILABLE, "concat(array_join({}, ', '), ' is missing: {}')".format(UNAVAILABLE, NOT_HERE))
