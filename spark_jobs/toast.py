"""What a change under REPLICA IDENTITY DEFAULT leaves out, taken from the changes of its batch before it (ADR 18).

PostgreSQL logs no large value that an update leaves alone. The message of such a change names these columns in
`__unavailable`, and in `__moved_from` the key that the row had until then if this change gave it another one
(lake.connect.NameUnavailable). Their values are those of the change before, in the order of commit: of the same batch,
else of the stored row (spark_jobs/fill.py).

A life is one row of the source from its insert to its delete, whatever keys it has meanwhile.
"""

from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from spark_jobs import type_map
from spark_jobs.pipeline import Table
from spark_jobs.row_sql import ADDED, MOVED_FROM, UNAVAILABLE
from spark_jobs.type_map import identifier, text_literal

ALL = "*"  # in UNAVAILABLE: every column but the key, in the delete that the change of a key begins with
# Columns of a batch on its way: the key as text, the life, the key that the row is stored under (null: nothing stored
# can be meant), the LSNs of its changes of key in the batch so far, and whether the key was deleted in it before.
KEY, LIFE, BASE, MOVES, VACATED = "_toast_key", "_toast_life", "_toast_base", "_toast_moves", "_toast_vacated"
FIELDS = (UNAVAILABLE, MOVED_FROM, KEY, LIFE, BASE, MOVES, VACATED)  # no columns of the table
HOLDER, FIRST, UNTIL, HELD = "_toast_holder", "_toast_first", "_toast_until", "_toast_held"
ORPHANED, CUTS = "_toast_orphaned", "_toast_cuts"
END = 2**63 - 1
Span = Tuple[str, int, int, str]


class Move(NamedTuple):
    """One message of a change of keys; source: the old key in the create, None in the delete. Keys are texts."""

    order: int
    lsn: int
    key: str
    source: Optional[str]


def left_out(summary: List[Any]) -> List[str]:
    """The columns that some message of a batch leaves out; ALL among them for a change of keys."""
    return sorted({name for row in summary for name in row["unavailable"]})


# --- A message.


def lake_columns(writer_schema: Dict[str, Any], row: str) -> List[str]:
    """As type_map.lake_columns; of a writer that names what it leaves out, without the placeholders."""
    fields = {field["name"]: field for field in writer_schema["fields"]}
    if UNAVAILABLE not in fields:
        return type_map.lake_columns(writer_schema, row)
    columns = [_present(field, row) for name, field in fields.items() if name not in FIELDS]
    return columns + ["{0}.{1} AS {1}".format(row, UNAVAILABLE), _old_key(fields[MOVED_FROM], row)]


def _present(field: Dict[str, Any], row: str) -> str:
    """The placeholder must not even be converted: it is no number, for one."""
    lacks = "array_contains({}.{}, {})".format(row, UNAVAILABLE, text_literal(field["name"]))
    value = type_map.lake_value(field, row)
    return "CASE WHEN {} THEN NULL ELSE {} END AS {}".format(lacks, value, identifier(field["name"]))


def _old_key(field: Dict[str, Any], row: str) -> str:
    """The old key by column name, each value as the text of its lake type."""
    struct = "{}.{}".format(row, MOVED_FROM)
    (key,) = [branch for branch in field["type"] if branch != "null"]
    texts = [
        "{}, CAST({} AS string)".format(text_literal(column["name"]), type_map.lake_value(column, struct))
        for column in key["fields"]
    ]
    return "CASE WHEN {} IS NOT NULL THEN map({}) END AS {}".format(struct, ", ".join(texts), MOVED_FROM)


# --- A batch.


def carried(rows: DataFrame, table: Table, names: Sequence[str]) -> DataFrame:
    """All changes of a batch, with what they leave out from the last change of the batch that brought it.

    names: left_out(). UNAVAILABLE then names what is still missing, and is null where nothing is; the columns of
    FIELDS are added.
    """
    data = [name for name in rows.columns if name not in ADDED and name not in table.keys]
    wanted = data if ALL in names else [name for name in data if name in names]
    keyed = rows.withColumn(KEY, key_text([F.col(identifier(key)) for key in table.keys]))
    return _with_values(_cut_at_deletes(_spanned(keyed, life_spans(_moves(keyed, table)))), wanted)


def key_text(values: List[Column]) -> Column:
    """One text of a key's values: a JSON array, which no separator in a value can confuse."""
    return F.to_json(F.array(*[value.cast("string") for value in values]))


def lacks(name: str) -> Column:
    """Whether UNAVAILABLE holds the name."""
    return F.coalesce(F.array_contains(UNAVAILABLE, name), F.lit(False))


def _is_move() -> Column:
    """Whether a message is one of the two of a change of keys."""
    return lacks(ALL) | F.col(MOVED_FROM).isNotNull()


def _moves(keyed: DataFrame, table: Table) -> List[Move]:
    moved = F.col(MOVED_FROM).isNotNull()
    source = F.when(moved, key_text([F.col(MOVED_FROM)[key] for key in table.keys]))
    found = keyed.where(_is_move()).select("_order", "__lsn", KEY, source)
    return sorted(Move(*row) for row in found.collect())


def life_spans(moves: List[Move]) -> List[Span]:
    """Whose life each key holds from which `_order` on and until before which, where it may not be the key's own.

    A life has the name of the key that its row had before the batch, '@...' when it began within. moves: in their
    order. When Debezium sends the change of a key again, its old key and LSN say so: it is about the same life.
    """
    held = {}  # type: Dict[str, str]
    left = {}  # type: Dict[Tuple[str, int], str]
    starts = []  # type: List[Tuple[str, int, str]]
    for move in moves:
        old = move.key if move.source is None else move.source
        life = left.setdefault((old, move.lsn), held.get(old, old))
        held[move.key] = life
        starts.append((move.key, move.order, life))
        if move.source is not None:
            held[move.source] = "@{}".format(move.order)
            starts.append((move.source, move.order, held[move.source]))
    return _until_next(sorted(starts))


def _until_next(starts: List[Tuple[str, int, str]]) -> List[Span]:
    ends = [order if key == before else END for (key, order, _), (before, _, _) in zip(starts[1:], starts)] + [END]
    return [(key, order, end, life) for (key, order, life), end in zip(starts, ends)]


def _spanned(keyed: DataFrame, spans: List[Span]) -> DataFrame:
    if not spans:
        return keyed.withColumn(LIFE, F.col(KEY)).withColumn(VACATED, F.lit(False))
    columns = "{} string, {} bigint, {} bigint, {} string".format(HOLDER, FIRST, UNTIL, HELD)
    known = F.broadcast(keyed.sparkSession.createDataFrame(spans, columns))
    within = (F.col(KEY) == F.col(HOLDER)) & (F.col("_order") >= F.col(FIRST)) & (F.col("_order") < F.col(UNTIL))
    joined = keyed.join(known, within, "left").withColumn(LIFE, F.coalesce(HELD, KEY))
    before = Window.partitionBy(KEY).orderBy("_order").rowsBetween(Window.unboundedPreceding, -1)
    vacated = F.coalesce(F.max(F.col("__deleted") == "true").over(before), F.lit(False))
    return joined.withColumn(VACATED, vacated).drop(HOLDER, FIRST, UNTIL, HELD)


def _cut_at_deletes(lived: DataFrame) -> DataFrame:
    """An update after a delete has lost its insert: nothing from before the delete may fill it."""
    by_order = Window.partitionBy(LIFE).orderBy("_order")
    is_update = F.col(UNAVAILABLE).isNotNull() & ~_is_move()
    orphaned = F.when((F.lag("__deleted").over(by_order) == "true") & is_update, 1).otherwise(0)
    counted = lived.withColumn(ORPHANED, orphaned).withColumn(CUTS, F.sum(ORPHANED).over(by_order))
    whole = F.col(CUTS) == 0
    base = F.when(whole & F.col(LIFE).startswith("["), F.col(LIFE))
    life = F.when(whole, F.col(LIFE)).otherwise(F.concat(LIFE, F.lit("@"), CUTS))
    return counted.withColumn(BASE, base).withColumn(LIFE, life).drop(ORPHANED, CUTS)


def _with_values(lived: DataFrame, names: List[str]) -> DataFrame:
    so_far = Window.partitionBy(LIFE).orderBy("_order").rowsBetween(Window.unboundedPreceding, Window.currentRow)
    left = {name: lacks(name) | lacks(ALL) for name in names}
    last = {name: "_toast_last_{}".format(number) for number, name in enumerate(names)}
    moves = F.collect_list(F.when(_is_move(), F.col("__lsn"))).over(so_far).alias(MOVES)
    known = lived.select("*", moves, *_last_brought(left, last, so_far))
    values = {name: F.when(left[name], F.col(last[name])[name]).otherwise(F.col(identifier(name))) for name in names}
    missing = named({name: left[name] & F.col(last[name]).isNull() for name in names})
    return known.select(*replaced(lived.columns, dict(values, **{UNAVAILABLE: missing})), MOVES)


def _last_brought(left: Dict[str, Column], last: Dict[str, str], so_far: Any) -> List[Column]:
    """The value as a struct, so that a null that came is one."""
    alive = F.col("__deleted") == "false"
    brought = {name: F.when(~left[name] & alive, F.struct(identifier(name))) for name in left}
    return [F.last(brought[name], ignorenulls=True).over(so_far).alias(last[name]) for name in left]


def named(conditions: Dict[str, Column]) -> Column:
    """The names whose condition holds, null when none does."""
    names = F.array(*[F.when(condition, F.lit(name)) for name, condition in conditions.items()])
    held = F.filter(names.cast("array<string>"), lambda name: name.isNotNull())
    return F.when(F.size(held) > 0, held)


def replaced(columns: Sequence[str], values: Dict[str, Column]) -> List[Column]:
    """The columns, some of them with other values."""
    return [values.get(name, F.col(identifier(name))).alias(name) for name in columns]
