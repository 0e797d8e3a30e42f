"""Unchanged TOAST values, missing in changes under REPLICA IDENTITY DEFAULT: filled in from the batch (ADR 18).

PostgreSQL does not log a large value that an update leaves unchanged. The message of such a change names these columns
in `__unavailable`. If the change moves the row to another key, the message names the old key in `__moved_from`
(lake.connect.NameUnavailable). The missing values are those of the previous change in the order of commit, from the
same batch or from the stored row (spark_jobs/events/toast_from_table.py).

A lineage is one row of the source from its insert to its delete, whatever keys it has in between.
"""

from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_jobs.events.flatten import ADDED, GENERATION, MOVED_FROM, UNAVAILABLE
from spark_jobs.runtime import frames
from spark_jobs.runtime.frames import replaced
from spark_jobs.runtime.pipeline import Table
from spark_jobs.runtime.sql_text import identifier, text_literal, text_of_key
from spark_jobs.sources.columns import Convert, Converted, is_delete, selected

ALL = "*"  # in UNAVAILABLE: all columns except the key; it is in the delete with which a change of the key begins
# Columns while a batch is filled: the key as text, the lineage, the key that the row had before the batch (null: no
# stored row can have its values), the LSNs of its key changes in the batch so far, and whether the key was deleted
# earlier in the batch.
KEY, LINEAGE, OLD_KEY = "_toast_key", "_toast_lineage", "_toast_old_key"
MOVES, VACATED = "_toast_moves", "_toast_vacated"
FIELDS = (UNAVAILABLE, MOVED_FROM, KEY, LINEAGE, OLD_KEY, MOVES, VACATED)  # no columns of the table
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


# --- A message.


def lake_columns(writer_schema: Dict[str, Any], row: str, convert: Convert) -> List[str]:
    """The columns of the table. If the writer names missing values: these names instead of placeholders."""
    return selected(_columns(writer_schema, row, convert), is_delete(writer_schema, row))


def unrepresentable(writer_schema: Dict[str, Any], row: str, keys: Sequence[str], convert: Convert) -> str:
    """Why lake_columns() fails for a message, as SQL of a text that names a column; NULL where it does not.

    For a delete only the key can be the reason: the other columns are NULL where they do not fit.
    """
    columns, of_key = _columns(writer_schema, row, convert), (*keys, MOVED_FROM)
    key = [one for name in of_key if name in columns for one in columns[name].unrepresentable]
    others = [one for name, column in columns.items() if name not in of_key for one in column.unrepresentable]
    deleted = "WHEN {} THEN NULL".format(is_delete(writer_schema, row))
    return "CAST(CASE {} END AS string)".format(" ".join([*_cases(key), deleted, *_cases(others)]))


def _cases(unrepresentable: Sequence[Tuple[str, str]]) -> List[str]:
    return ["WHEN {} THEN {}".format(condition, text_literal(problem)) for condition, problem in unrepresentable]


def _columns(writer_schema: Dict[str, Any], row: str, convert: Convert) -> Dict[str, Converted]:
    fields = {field["name"]: field for field in writer_schema["fields"] if field["name"] != GENERATION}
    if UNAVAILABLE not in fields:
        return {name: convert(field, row) for name, field in fields.items()}
    columns = {name: _present(field, row, convert) for name, field in fields.items() if name not in FIELDS}
    names = Converted("{}.{}".format(row, UNAVAILABLE), [])
    return {**columns, UNAVAILABLE: names, MOVED_FROM: _old_key(fields[MOVED_FROM], row, convert)}


def _present(field: Dict[str, Any], row: str, convert: Convert) -> Converted:
    """The column without the placeholder, which must not even be converted: it may not be a number, for example."""
    left_out = "coalesce(array_contains({}.{}, {}), false)".format(row, UNAVAILABLE, text_literal(field["name"]))
    found = convert(field, row)
    value = "CASE WHEN {} THEN NULL ELSE {} END".format(left_out, found.value)
    brought = "NOT {} AND {}"
    return found.where(lambda bad, problem: (brought.format(left_out, bad), problem))._replace(value=value)


def _old_key(field: Dict[str, Any], row: str, convert: Convert) -> Converted:
    """The old key by column name, each value as the text of its lake type."""
    struct = "{}.{}".format(row, MOVED_FROM)
    (key,) = [branch for branch in field["type"] if branch != "null"]
    columns = {column["name"]: convert(column, struct) for column in key["fields"]}
    texts = ["{}, {}".format(text_literal(name), text_of_key(one.value)) for name, one in columns.items()]
    value = "CASE WHEN {} IS NOT NULL THEN map({}) END".format(struct, ", ".join(texts))
    return Converted(value, [pair for one in columns.values() for pair in one.unrepresentable])


# --- A batch.


def carried(rows: DataFrame, table: Table, names: Sequence[str]) -> DataFrame:
    """All changes of a batch. Values that they leave out are filled from the last change of the batch that has them.

    names: Batch.left_out. UNAVAILABLE then names the values that are still missing, and is null if none is; the
    columns of FIELDS are added. Without names these columns are dropped.
    """
    if not names:
        return rows.drop(*FIELDS)
    data = [name for name in rows.columns if name not in ADDED and name not in table.keys]
    wanted = data if ALL in names else [name for name in data if name in names]
    keyed = frames.select(rows, ["*", "{} AS {}".format(key_text(map(identifier, table.keys)), KEY)])
    return _with_values(_cut(_spanned(keyed, lineage_spans(_moves(keyed, table))), table), wanted)


def key_text(values: Iterable[str]) -> str:
    """One text of a key's values: a JSON array, which no separator in a value can confuse."""
    return "to_json(array({}))".format(", ".join(map(text_of_key, values)))


def leaves_out(name: str) -> str:
    """True if UNAVAILABLE holds the name."""
    return "coalesce(array_contains({}, {}), false)".format(UNAVAILABLE, text_literal(name))


IS_MOVE = "({} OR {} IS NOT NULL)".format(leaves_out(ALL), MOVED_FROM)  # one of the two messages of a change of keys


def _moves(keyed: DataFrame, table: Table) -> List[Move]:
    source = key_text("{}[{}]".format(MOVED_FROM, text_literal(key)) for key in table.keys)
    columns = ["_order", "__lsn", KEY, "CASE WHEN {} IS NOT NULL THEN {} END AS source".format(MOVED_FROM, source)]
    return sorted(Move(*row) for row in frames.select(keyed.where(IS_MOVE), columns).collect())


def lineage_spans(moves: List[Move]) -> List[Span]:
    """Key, first `_order`, `_order` after the last, and the lineage that has the key between them.

    Only keys that change are listed. A lineage is named by the key that its row had before the batch, or '@...' if it
    began in the batch. moves: in their order. When Debezium sends a key change again, its old key and LSN show that it
    belongs to the same lineage.
    """
    held: Dict[str, str] = {}
    left: Dict[Tuple[str, int], str] = {}
    starts: List[Tuple[str, int, str]] = []
    for move in moves:
        old = move.key if move.source is None else move.source
        lineage = left.setdefault((old, move.lsn), held.get(old, old))
        held[move.key] = lineage
        starts.append((move.key, move.order, lineage))
        if move.source is not None:
            held[move.source] = "@{}".format(move.order)
            starts.append((move.source, move.order, held[move.source]))
    return _until_next(sorted(starts))


def _until_next(starts: List[Tuple[str, int, str]]) -> List[Span]:
    ends = [order if key == before else END for (key, order, _), (before, _, _) in zip(starts[1:], starts)] + [END]
    return [(key, order, end, lineage) for (key, order, lineage), end in zip(starts, ends)]


def _spanned(keyed: DataFrame, spans: List[Span]) -> DataFrame:
    if not spans:
        return frames.select(keyed, ["*", "{} AS {}".format(KEY, LINEAGE), "false AS {}".format(VACATED)])
    kinds = {HOLDER: "string", FIRST: "bigint", UNTIL: "bigint", HELD: "string"}
    known = F.broadcast(frames.few(keyed.sparkSession, spans, kinds))
    within = "{} = {} AND _order >= {} AND _order < {}".format(KEY, HOLDER, FIRST, UNTIL)
    before = "PARTITION BY {} ORDER BY _order ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING".format(KEY)
    columns = [
        *map(identifier, keyed.columns),
        "coalesce({}, {}) AS {}".format(HELD, KEY, LINEAGE),
        "coalesce(max(__deleted = 'true') OVER ({}), false) AS {}".format(before, VACATED),
    ]
    return frames.select(keyed.join(known, F.expr(within), "left"), columns)


def _cut(rows: DataFrame, table: Table) -> DataFrame:
    """Starts a new lineage where no earlier value may be used for a change.

    The insert before an update that follows a delete was lost. And if messages are set aside, one of them may contain
    the value: such a table no longer has this identity, but its topic may have older messages.
    """
    by_order = "OVER (PARTITION BY {} ORDER BY _order)".format(LINEAGE)
    lost = "lag(__deleted) {} = 'true' AND NOT {}".format(by_order, IS_MOVE)
    condition = "true" if table.on_bad_message == "quarantine" else lost
    orphaned = "CASE WHEN {} IS NOT NULL AND {} THEN 1 ELSE 0 END".format(UNAVAILABLE, condition)
    marked = frames.select(rows, ["*", "{} AS {}".format(orphaned, ORPHANED)])
    counted = frames.select(marked, ["*", "sum({}) {} AS {}".format(ORPHANED, by_order, CUTS)])
    whole = "CASE WHEN {} = 0".format(CUTS)
    lineage = "{0} THEN {1} ELSE concat({1}, '@', {2}) END".format(whole, LINEAGE, CUTS)
    old_key = "{0} AND startswith({1}, '[') THEN {1} END AS {2}".format(whole, LINEAGE, OLD_KEY)
    return frames.select(counted, [*replaced(rows.columns, {LINEAGE: lineage}), old_key])


def _with_values(rows: DataFrame, names: List[str]) -> DataFrame:
    so_far = "PARTITION BY {} ORDER BY _order ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW".format(LINEAGE)
    left = {name: "({} OR {})".format(leaves_out(name), leaves_out(ALL)) for name in names}
    last = {name: "_toast_last_{}".format(number) for number, name in enumerate(names)}
    moves = "collect_list(CASE WHEN {} THEN __lsn END) OVER ({}) AS {}".format(IS_MOVE, so_far, MOVES)
    known = frames.select(rows, ["*", moves, *_last_brought(left, last, so_far)])
    value = "CASE WHEN {0} THEN {1}.{2} ELSE {2} END"
    values = {name: value.format(left[name], last[name], identifier(name)) for name in names}
    missing = named({name: "{} AND {} IS NULL".format(left[name], last[name]) for name in names})
    return frames.select(known, [*replaced(rows.columns, {**values, UNAVAILABLE: missing}), MOVES])


def _last_brought(left: Dict[str, str], last: Dict[str, str], so_far: str) -> List[str]:
    """The last value of each column as a struct, so that a null in a message differs from no value."""
    brought = "last(CASE WHEN NOT {} AND __deleted = 'false' THEN struct({}) END, true) OVER ({}) AS {}"
    return [brought.format(left[name], identifier(name), so_far, last[name]) for name in left]


def named(conditions: Dict[str, str]) -> str:
    """The names whose condition holds, null when none does."""
    cases = ["CASE WHEN {} THEN {} END".format(holds, text_literal(name)) for name, holds in conditions.items()]
    kind = "array<string>"
    held = "filter(CAST(array({}) AS {}), name -> name IS NOT NULL)".format(", ".join(cases), kind)
    return "nullif({}, CAST(array() AS {}))".format(held, kind)
