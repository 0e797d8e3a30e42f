"""Keys that two rows hold for a moment within a transaction, under a deferrable constraint (ADR 45).

The order of the messages is then not enough. One UPDATE that swaps the keys 1 and 2 arrives as d(1) c(2) d(2) c(1): the
late delete of 2 ends the row that had this key before, and the new row stays. So the delete that begins a change of a
key ends its own row only. Under REPLICA IDENTITY FULL, which such a key needs, a delete carries the whole row: it ends
the row with the same content.

A transaction is known by its commit time, which all its messages carry. Two that committed in the same millisecond are
taken for one, and end as they would one after the other.
"""

from functools import reduce
from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_jobs.events.batch import Batch
from spark_jobs.events.decode_and_fit import Stored
from spark_jobs.events.flatten import ADDED
from spark_jobs.events.schema_evolution import SchemaRefused, fit
from spark_jobs.events.toast import key_text
from spark_jobs.events.toast_from_table import Read
from spark_jobs.events.writer_schemas import WriterSchemas
from spark_jobs.kafka.messages import schema_id
from spark_jobs.runtime import frames
from spark_jobs.runtime.pipeline import Table
from spark_jobs.runtime.sql_text import identifier

KEY, DROPPED_KEY, DROPPED = "_held_key", "_dropped_key", "_dropped_order"
STORED = -1  # the writer of a row that the table has
FACTS = ("_order", "__op", "__lsn", "writer", "content")
CONTENT = "md5(to_json(struct({}), map('timestampFormat', 'yyyy-MM-dd HH:mm:ss.SSSSSS'))) AS content"


class Event(NamedTuple):
    """A message, or the row of it that the table has. content: of the row; of a delete, as it was before."""

    order: int
    op: str
    lsn: int
    writer: int
    content: str


class Sent(NamedTuple):
    """An event, and the orders of all messages of it: Connect may send one again."""

    event: Event
    orders: Tuple[int, ...]
    is_stored: bool

    def is_ended_by(self, delete: Event) -> bool:
        return self.event.content == delete.content or self.is_altered(delete)

    def is_altered(self, delete: Event) -> bool:
        """True if a column was altered in between: then the contents can't be compared."""
        return self.event.writer not in (delete.writer, STORED)


def superfluous(events: Sequence[Event]) -> List[int]:
    """The orders of the messages about one key in one transaction that are not to be applied.

    These are rows that came and went within it, and deletes of rows that had the key before, if another row has it now.
    """
    versions: List[Sent] = []  # the rows that have got the key in the transaction
    dropped: List[int] = []
    of_others: List[int] = []
    for sent in _sent(events):
        if sent.event.op == "d":
            own = next((one for one in reversed(versions) if one.is_ended_by(sent.event)), None)
            if own is not None:
                versions.remove(own)
                dropped += own.orders
            stays = own is None or own.is_stored or own.is_altered(sent.event)
            (of_others if stays else dropped).extend(sent.orders)
        elif sent.event.op == "u" and versions:
            last = versions.pop()
            versions.append(Sent(sent.event, (*last.orders, *sent.orders), last.is_stored or sent.is_stored))
        elif sent.event.op == "c" or sent.is_stored:
            versions.append(sent)
    return dropped + (of_others if versions else [])


def _sent(events: Sequence[Event]) -> List[Sent]:
    """The events in the order in which they were sent last."""
    found: Dict[Tuple[int, str], Sent] = {}
    for event in sorted(events):
        before = found.pop((event.lsn, event.op), None)
        orders = (*(before.orders if before else ()), event.order)
        is_stored = event.writer == STORED or bool(before and before.is_stored)
        found[event.lsn, event.op] = Sent(event, orders, is_stored)
    return list(found.values())


def without_superfluous(
    rows: DataFrame, batch: Batch, schemas: WriterSchemas, stored: Stored, read: Optional[Read]
) -> DataFrame:
    """The rows of a batch that are to be applied. read: reads the stored rows; None while there are none.

    A batch without a transaction that created and deleted rows, and that goes on with none, is not read again.
    """
    table, last_ms = schemas.table, stored.position.get("source_ts_ms") or -1
    begun = [ms for ms in batch.deleted_ms if ms <= last_ms]
    moments = sorted({*begun, *(set(batch.created_ms) & set(batch.deleted_ms))})
    if table.replica_identity != "full" or not moments:
        return rows
    try:
        groups = _groups(batch, schemas, stored, moments, last_ms)
    except SchemaRefused:
        return rows  # it is met again where deleted rows are left out of it
    known = _known(groups, table, stored, read, last_ms) if begun and read else {}
    dropped = [
        (key, order) for key, ms, events in groups for order in superfluous([*events, *known.get((key, ms), [])])
    ]
    if not dropped:
        return rows
    gone = F.broadcast(frames.few(rows.sparkSession, dropped, {DROPPED_KEY: "string", DROPPED: "bigint"}))
    same = "{} = {} AND _order = {}".format(_key(table), DROPPED_KEY, DROPPED)
    left = rows.join(gone, F.expr(same), "left_anti")
    return left if stored.columns.fields or left.take(1) else rows  # the first commit of a table needs a row


Moment = Tuple[str, int]  # a key and a commit time
Group = Tuple[str, int, List[Event]]


def _groups(batch: Batch, schemas: WriterSchemas, stored: Stored, moments: List[int], last_ms: int) -> List[Group]:
    """Key, commit time and events where a delete may end the wrong row: it comes after a create, or may come after one
    that the table has.
    """
    parts = [_facts(batch, writer, schemas, stored) for writer in batch.writers]
    facts = reduce(DataFrame.union, parts).where("ms IN ({})".format(", ".join(map(str, moments))))
    columns = [
        "collect_list(struct({})) AS events".format(", ".join(FACTS)),
        "max(CASE WHEN __op = 'd' THEN _order END) AS late",
        "min(CASE WHEN __op = 'c' THEN _order END) AS early",
    ]
    grouped = facts.groupBy(KEY, "ms").agg(*map(F.expr, columns))
    found = grouped.where("late > early OR late IS NOT NULL AND ms <= {}".format(last_ms)).collect()
    return [(row[KEY], row["ms"], [Event(*event) for event in row["events"]]) for row in found]


def _facts(batch: Batch, writer: int, schemas: WriterSchemas, stored: Stored) -> DataFrame:
    """The events of one writer; with the data of deleted rows, which the table may not keep."""
    decoded = schemas.rows(batch.messages.where(schema_id() == writer), writer)
    rows = fit(decoded.where("__op <> 'r'"), stored.columns, [], stored.name)
    return frames.select(rows, _columns(schemas.table, stored.columns.names or rows.columns, writer))


def _known(groups: List[Group], table: Table, stored: Stored, read: Read, last_ms: int) -> Dict[Moment, List[Event]]:
    """The rows that the table has from the transactions that go on in the batch."""
    begun = sorted({(key, ms) for key, ms, _ in groups if ms <= last_ms})
    if not begun:
        return {}
    moments = ", ".join(sorted({str(ms) for _, ms in begun}))
    live = "__source_ts_ms IN ({}) AND __op IN ('c', 'u') AND __deleted = 'false'".format(moments)
    rows = frames.select(read().where(live), _columns(table, stored.columns.names, STORED))
    keys = F.broadcast(frames.few(rows.sparkSession, begun, {KEY: "string", "ms": "bigint"}))
    found = rows.join(keys, [KEY, "ms"], "left_semi").collect()
    return {(row[KEY], row["ms"]): [Event(*(row[name] for name in FACTS))] for row in found}


def _columns(table: Table, names: Sequence[str], writer: int) -> List[str]:
    data = ", ".join(identifier(name) for name in names if name not in ADDED)
    key, facts = "{} AS {}".format(_key(table), KEY), ["_order", "__op", "__lsn", "{} AS writer".format(writer)]
    return [key, "__source_ts_ms AS ms", *facts, CONTENT.format(data)]


def _key(table: Table) -> str:
    return key_text(map(identifier, table.keys))
