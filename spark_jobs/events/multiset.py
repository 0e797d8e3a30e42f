"""Tables without a key whose rows are updated and deleted, too: a multiset of rows (ADR 48).

A message names no row. It has its place in the log, and the content of the row that it adds or ends, as a hash
(lake.connect.NameRows); an update ends one row and adds another. A delete ends the newest row of its content that is
older than the delete: the same one however messages are cut into batches, and never one from before a snapshot that has
read all rows again. The table remembers the place of each row, and in a deleted one that of its delete: what is sent
again was applied already.
"""

from collections import Counter
from contextlib import ExitStack, contextmanager
from typing import Dict, Iterator, List, NamedTuple, Optional, Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_jobs.events.flatten import CONTENT, ENDED_BY, EPOCH_SIZE, ROW, WAS
from spark_jobs.events.toast import FIELDS
from spark_jobs.events.toast_from_table import Read
from spark_jobs.events.validate import NoSuchRow
from spark_jobs.runtime import frames
from spark_jobs.runtime.sql_text import identifier

KNOWN = {ROW: "string", CONTENT: "string", ENDED_BY: "string", "__deleted": "string", "_order": "bigint"}
# Nothing else refuses a message that names no row: a join would pass it over.
PLACE = "coalesce({}, raise_error('the row has no name')) AS place".format(ROW)
# Steps: a row is added (1) or ended (-1). at: what a tombstone takes from its delete.
AT = "struct(_order, __lsn, __source_ts_ms) AS at"
ADDED = (PLACE, "{} AS content".format(CONTENT), "_order", "1 AS step", AT)
# What a message without the row before it ends, no row has: '' is no hash.
ENDED = (
    PLACE,
    "coalesce(if(__op = 'u', {}, {}), '') AS content".format(WAS, CONTENT),
    *("_order", "-1 AS step", AT),
)
STORED = ("{} AS place".format(ROW), "{} AS content".format(CONTENT), "_order", "1 AS step", "NULL AS at")
# How many rows of the content are there, the step included; and which of them it adds or ends, the oldest being 1.
DEPTH = "sum(step) OVER (PARTITION BY content ORDER BY _order, step ROWS UNBOUNDED PRECEDING) AS depth"
LEVEL = "depth - least(step, 0) AS level"
NEXT = "lead(struct(place, at)) OVER (PARTITION BY content, level ORDER BY _order, step) AS ending"
ENDING = {
    "__op": "'d'",
    "__deleted": "'true'",
    "_order": "ending.at._order",
    "__lsn": "ending.at.__lsn",
    "__source_ts_ms": "ending.at.__source_ts_ms",
    ENDED_BY: "ending.place",
}


class Change(NamedTuple):
    """A message: the content that it ends, and the one that it adds; None where it does not."""

    order: int
    ended: Optional[str]
    added: Optional[str]


@contextmanager
def folded(rows: DataFrame, read: Optional[Read]) -> Iterator[DataFrame]:
    """What a batch makes of the table: the rows that it adds, and the stored ones that it ends, as tombstones.

    rows: of the messages, as decode_and_fit() makes them. read: reads the stored rows; None while there are none.
    Raises NoSuchRow for messages that end a row that is not there. The context ends after the write.
    """
    rows = _with_texts(rows, CONTENT, WAS, ENDED_BY)
    with ExitStack() as kept:
        known = _with_texts(read(), CONTENT, ENDED_BY) if read else frames.few(rows.sparkSession, [], KNOWN)
        steps = _keep(_not_applied(_keep(_steps(rows), kept), known), kept)
        endings = _keep(_endings(_keep(_levels(steps, known), kept)), kept)
        changed = _added(rows, steps)
        if read:
            changed = changed.unionByName(_ended(read(), endings), allowMissingColumns=True)
        yield _with_endings(frames.select(changed, _columns(rows)), endings)


def unmatched(changes: Sequence[Change], live: Dict[str, int]) -> List[int]:
    """The orders of the messages that end a row that is not there. live: the rows of each content before them.

    A message that cannot be applied adds nothing either, so there may be no row for later ones.
    """
    rows, found = Counter(live), []
    for change in sorted(changes):
        if change.ended is not None and not rows[change.ended]:
            found.append(change.order)
            continue
        if change.ended is not None:
            rows[change.ended] -= 1
        if change.added is not None:
            rows[change.added] += 1
    return found


def _keep(rows: DataFrame, kept: ExitStack) -> DataFrame:
    """The rows, computed once."""
    computed = frames.computed(rows)
    kept.callback(frames.forget, computed)
    return computed


def _with_texts(rows: DataFrame, *names: str) -> DataFrame:
    """The rows, also those from before the table was a multiset, with these columns."""
    missing = ["CAST(NULL AS string) AS {}".format(name) for name in names if name not in rows.columns]
    return frames.select(rows, ["*", *missing])


def _steps(rows: DataFrame) -> DataFrame:
    """What the messages add and end; of those that were sent several times the first one."""
    added = frames.select(rows.where("__op <> 'd'"), ADDED)
    ended = frames.select(rows.where("__op IN ('u', 'd')"), ENDED)
    first = "min_by(struct(content, _order, at), _order) AS first"
    return added.union(ended).groupBy("place", "step").agg(F.expr(first)).select("place", "step", "first.*")


def _not_applied(steps: DataFrame, known: DataFrame) -> DataFrame:
    """The steps that the table does not have yet."""
    added = known.selectExpr("{} AS place".format(ROW), "1 AS step")
    applied = added.union(known.selectExpr("{} AS place".format(ENDED_BY), "-1 AS step"))
    again = applied.join(F.broadcast(steps.select("place", "step")), ["place", "step"], "left_semi")
    return steps.join(F.broadcast(again), ["place", "step"], "left_anti")


def _levels(steps: DataFrame, known: DataFrame) -> DataFrame:
    """The steps of each content of which a row ends, after the live rows of it; `ending`: the step that ends a row.

    Rows of one content are a stack. A step that adds the third one, and the next step at this level, which ends it, are
    about one row.
    """
    live = frames.select(known.where("__deleted = 'false'"), STORED)
    touched = F.broadcast(steps.where("step = -1").select("content").distinct())
    every = live.unionByName(steps.select(*live.columns)).join(touched, "content", "left_semi")
    counted = frames.select(every, ["*", DEPTH])
    return frames.select(frames.select(counted, ["*", LEVEL]), ["*", NEXT])


def _endings(levels: DataFrame) -> DataFrame:
    """The places of the rows that end. Raises NoSuchRow if a step ends a row below the first one."""
    if levels.where("step = -1 AND level < 1").take(1):
        raise _no_such_row(levels)
    return levels.where("step = 1 AND ending IS NOT NULL").selectExpr("place AS {}".format(ROW), "ending")


def _no_such_row(levels: DataFrame) -> NoSuchRow:
    changes = levels.where("at IS NOT NULL").groupBy("_order").pivot("step", [-1, 1]).agg(F.first("content"))
    live = levels.where("at IS NULL").groupBy("content").count()
    orders = unmatched([Change(*row) for row in changes.collect()], {row[0]: row[1] for row in live.collect()})
    return NoSuchRow([order % EPOCH_SIZE for order in orders])


def _added(rows: DataFrame, steps: DataFrame) -> DataFrame:
    """The rows that are to be added."""
    first = steps.where("step = 1").selectExpr("place AS {}".format(ROW), "_order")
    return rows.where("__op <> 'd'").join(F.broadcast(first), [ROW, "_order"], "left_semi")


def _ended(rows: DataFrame, endings: DataFrame) -> DataFrame:
    """The stored rows that end."""
    return rows.join(F.broadcast(endings.select(ROW)), ROW, "left_semi")


def _columns(rows: DataFrame) -> List[str]:
    return [identifier(name) for name in rows.columns if name not in (*FIELDS, WAS)]


def _with_endings(rows: DataFrame, endings: DataFrame) -> DataFrame:
    value = "if(ending IS NOT NULL, {}, {})"
    changed = {name: value.format(end, identifier(name)) for name, end in ENDING.items()}
    ended = rows.join(F.broadcast(endings), ROW, "left")
    return frames.select(ended, frames.replaced(rows.columns, changed))
