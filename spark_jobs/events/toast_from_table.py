"""Unchanged TOAST values that the batch does not contain either: from the stored rows of the table (ADR 18).

Such a value is never null, because a null is not large. So a null in a stored row means that the value is missing.
"""

from contextlib import ExitStack, contextmanager
from typing import Callable, Dict, Iterator, List, Optional, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from spark_jobs.events.deletes import erase_deleted
from spark_jobs.events.flatten import EPOCH_SIZE, MOVED_FROM, UNAVAILABLE
from spark_jobs.events.toast import FIELDS, KEY, MOVES, OLD_KEY, VACATED, key_text, leaves_out, named
from spark_jobs.runtime import frames
from spark_jobs.runtime.frames import replaced
from spark_jobs.runtime.pipeline import Table
from spark_jobs.runtime.sql_text import identifier

PARTITIONS = 100  # up to this many partitions are read by name; for more, all are read
SHOWN = 5
NEW_KEY_ROW, OLD_KEY_ROW, CHOSEN = "_toast_new_key_row", "_toast_old_key_row", "_toast_chosen"
Read = Callable[[], DataFrame]
VERSION = ("_order", "__lsn", "__op", "__deleted")


class Unfillable(Exception):
    """A change misses a value, and no row has it. Nothing of the batch was written."""

    def __init__(self, message: str, offsets: List[int]) -> None:
        super().__init__(message)
        self.offsets = offsets


@contextmanager
def with_stored_values(latest: DataFrame, table: Table, read: Optional[Read]) -> Iterator[DataFrame]:
    """The newest change of each key with the values that are still missing. latest: as toast.carried() made them.

    Changes that the table already has, and older ones, are left out. The columns of FIELDS are dropped. Raises
    Unfillable. read: reads the stored rows; None while the table has no commit. The context ends after the write.
    """
    with ExitStack() as kept:
        rows = _completed(_keep(latest, kept), table, read, kept).drop(*FIELDS)
        # In a delete, toast.carried() has already filled in the missing values.
        yield erase_deleted(rows, table) if table.delete == "hard" else rows


def _keep(rows: DataFrame, kept: ExitStack) -> DataFrame:
    """The rows, computed once."""
    computed = frames.computed(rows)
    kept.callback(frames.forget, computed)
    return computed


def _completed(latest: DataFrame, table: Table, read: Optional[Read], kept: ExitStack) -> DataFrame:
    incomplete = latest.where("{} IS NOT NULL".format(UNAVAILABLE))
    (found,) = incomplete.selectExpr("array_distinct(flatten(collect_set({})))".format(UNAVAILABLE)).collect()
    names = sorted(found[0])
    if not names:
        return latest
    stored = _keep(_stored(wanted(incomplete, table), names, table, read, kept), kept)
    whole = _keep(with_stored(incomplete, stored, names, table.epoch), kept)
    refuse_missing(whole, "{}.{}".format(table.schema, table.table))
    return latest.where("{} IS NULL".format(UNAVAILABLE)).unionByName(whole)


def _stored(keys: DataFrame, names: List[str], table: Table, read: Optional[Read], kept: ExitStack) -> DataFrame:
    """The stored rows of the keys. In a partitioned table, the partitions that the keys name are read first."""
    if read is None:
        return as_stored(nothing(keys, table), table, names)
    condition = _partitions(keys, table)
    if condition is None:
        return of_keys(as_stored(read(), table, names), keys)
    near = _keep(of_keys(as_stored(read().where(condition), table, names), keys), kept)
    far = keys.join(near, KEY, "left_anti")
    if not far.take(1):
        return near
    return near.unionByName(of_keys(as_stored(read(), table, names), far))


def _partitions(keys: DataFrame, table: Table) -> Optional[Column]:
    """The condition on the first partition column; None where it would not save much."""
    if not table.partition_columns:
        return None
    found = [row[0] for row in keys.select("place").distinct().limit(PARTITIONS + 1).collect()]
    here = [place for place in found if place is not None]
    return F.col(identifier(table.partition_columns[0])).isin(here) if here and len(found) <= PARTITIONS else None


def wanted(incomplete: DataFrame, table: Table) -> DataFrame:
    """The keys to look up, with the partition (place) that most probably has each."""
    place = "{} AS place".format(next(map(identifier, table.partition_columns), "NULL"))
    moved = incomplete.where("{} <> {}".format(OLD_KEY, KEY))
    return incomplete.selectExpr(KEY, place).union(moved.selectExpr(OLD_KEY, place))


def as_stored(rows: DataFrame, table: Table, names: Sequence[str]) -> DataFrame:
    """Key, version and values of stored rows. values: a struct of the columns that the table has."""
    key = "{} AS {}".format(key_text(map(identifier, table.keys)), KEY)
    have = [identifier(name) for name in names if name in rows.columns]
    return frames.select(rows, [key, *VERSION, "struct({}) AS values".format(", ".join(["true AS _", *have]))])


def nothing(keys: DataFrame, table: Table) -> DataFrame:
    """The rows of a table without commits: none."""
    version = {"_order": "bigint", "__lsn": "bigint", "__op": "string", "__deleted": "string"}
    return frames.few(keys.sparkSession, [], {**dict.fromkeys(table.keys, "string"), **version})


def of_keys(rows: DataFrame, keys: DataFrame) -> DataFrame:
    """The rows whose KEY is one of keys."""
    return rows.join(F.broadcast(keys.select(KEY).distinct()), KEY, "left_semi")


def with_stored(incomplete: DataFrame, stored: DataFrame, names: Sequence[str], epoch: int) -> DataFrame:
    """The changes with the values of the stored rows; UNAVAILABLE names the values that these do not have either.

    A deleted row may miss values.
    """
    row = "struct({}, values) AS {}"
    new_key = stored.selectExpr(KEY, row.format(", ".join(VERSION), NEW_KEY_ROW))
    old_key = stored.selectExpr("{} AS {}".format(KEY, OLD_KEY), row.format(", ".join(VERSION), OLD_KEY_ROW))
    joined = incomplete.join(new_key, KEY, "left").join(old_key, OLD_KEY, "left")
    known = joined.where("NOT coalesce({}, false)".format(_known_already(epoch)))
    chosen = "CASE WHEN {} THEN {}.values WHEN {} THEN {}.values END AS {}"
    chosen = chosen.format(_is_new_key_row(epoch), NEW_KEY_ROW, _is_old_key_row(epoch), OLD_KEY_ROW, CHOSEN)
    found = frames.select(known, ["*", chosen])
    held = _values(stored, dict(incomplete.dtypes), names)
    value = "CASE WHEN {} THEN {} ELSE {} END"
    filled = {name: value.format(leaves_out(name), held[name], identifier(name)) for name in names}
    gone = "__deleted = 'false' AND {} AND {} IS NULL"
    missing = named({name: gone.format(leaves_out(name), held[name]) for name in names})
    return frames.select(found, replaced(incomplete.columns, {**filled, UNAVAILABLE: missing}))


def _values(stored: DataFrame, kinds: Dict[str, str], names: Sequence[str]) -> Dict[str, str]:
    have = stored.select("values.*").columns
    value = {name: "{}.{}".format(CHOSEN, identifier(name)) if name in have else "NULL" for name in names}
    return {name: "CAST({} AS {})".format(value[name], kinds[name]) for name in names}


def _is_old_key_row(epoch: int) -> str:
    """True if the row stored under the old key is the one being updated: same topic epoch, and either still live under
    that key, or deleted by a key change that this batch contains (redelivered, or whose create comes first).
    """
    stays = "{0}.__op = 'r' OR size({1}) = 0 OR {0}.__lsn < array_min({1})".format(OLD_KEY_ROW, MOVES)
    left = "array_contains({}, {}.__lsn)".format(MOVES, OLD_KEY_ROW)
    is_old = "CASE WHEN {0}.__deleted = 'false' THEN {1} OR {2} ELSE {2} END".format(OLD_KEY_ROW, stays, left)
    return "coalesce({} AND {}, false)".format(_of_epoch(OLD_KEY_ROW, epoch), is_old)


def _is_new_key_row(epoch: int) -> str:
    """True if the row stored under a changed key is already the row that got this key.

    A row can only move to a free key. So if the key is taken, and not by a row that the batch deleted, the table is
    ahead of the batch: the change was sent again, or a snapshot contained it (ADR 15).
    """
    moved = "{} <> {} AND {}.__deleted = 'false'".format(OLD_KEY, KEY, NEW_KEY_ROW)
    instead = "NOT {} AND {}.__lsn >= array_max({})".format(_is_old_key_row(epoch), NEW_KEY_ROW, MOVES)
    of_now = _of_epoch(NEW_KEY_ROW, epoch)
    return "coalesce({} AND {} AND (NOT {} OR {}), false)".format(moved, of_now, VACATED, instead)


def _known_already(epoch: int) -> str:
    """True for a change that is stored, or that Debezium sends again while a later one is stored.

    An update waits for the lock of its row, so its LSN is above those of all changes to the row before it; an insert's
    need not be (F1), nor above that of a row that a snapshot read (F2).
    """
    stays = "({} IS NULL AND {} = {} AND {})".format(MOVED_FROM, OLD_KEY, KEY, _of_epoch(NEW_KEY_ROW, epoch))
    later_one = "{0}.__op <> 'r' AND {0}.__lsn > __lsn".format(NEW_KEY_ROW)
    return "({}._order >= _order OR ({} OR {}) AND {})".format(NEW_KEY_ROW, stays, _is_new_key_row(epoch), later_one)


def _of_epoch(row: str, epoch: int) -> str:
    """True if a stored row is of this epoch of the topic, or a later one."""
    return "{}._order >= {}L".format(row, epoch * EPOCH_SIZE)


def refuse_missing(whole: DataFrame, name: str) -> None:
    """Raises Unfillable when a change still misses a value. name: of the source's table."""
    found = whole.where("{} IS NOT NULL".format(UNAVAILABLE)).selectExpr(KEY, UNAVAILABLE, "_order").collect()
    if not found:
        return
    missing = sorted(found, key=lambda row: int(row["_order"]))
    offsets = [row["_order"] % EPOCH_SIZE for row in missing]
    keys = ", ".join(row[KEY] for row in missing[:SHOWN]) + (", ..." if len(missing) > SHOWN else "")
    columns = sorted({column for row in missing for column in row[UNAVAILABLE]})
    what = "{}: {} of key {} did not change at offset {}, and no stored row has the value: "
    remedy = "write it again in PostgreSQL (of a text: UPDATE {0} SET {1} = {1} || '')".format(name, columns[0])
    raise Unfillable(what.format(name, ", ".join(columns), keys, offsets[0]) + remedy, offsets)


def later(batch: DataFrame, ahead: DataFrame, offsets: List[int]) -> DataFrame:
    """The later messages that have a key of the messages at the offsets. ahead: those of the batch and all later ones.

    A later change may contain the value that no stored row has, or delete the row. That happens during an incremental
    snapshot that has not reached the row yet.
    """
    places = frames.few(batch.sparkSession, [(offset,) for offset in offsets], {"offset": "bigint"})
    keys = batch.join(F.broadcast(places), "offset", "left_semi").select("key").distinct()
    of_batch = F.broadcast(batch.select("partition", "offset"))
    later_ones = ahead.join(of_batch, ["partition", "offset"], "left_anti")
    return later_ones.join(F.broadcast(keys), "key", "left_semi").select(*batch.columns)
