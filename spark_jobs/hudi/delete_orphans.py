"""Orphaned rows: their delete was lost in a gap. The writer of their table deletes them.

`lake resnapshot` requests this once every row of the source was sent again. A row is orphaned if its order is below
that of all rows sent again, and the source no longer has it (spark_jobs/ghosts.py).
"""

import logging
from typing import Sequence

from pyspark.sql import DataFrame

from spark_jobs.events.deletes import erase_deleted
from spark_jobs.hudi.table import META_COLUMNS, HudiTable
from spark_jobs.runtime.pipeline import Table
from spark_jobs.runtime.sql_text import identifier

LOG = logging.getLogger("delete_orphans")
# The tombstone is like the next event of the key. Its order is above everything that was stored or may be redelivered,
# and below every later event of the key, because no message of this key has an offset between the two.
TOMBSTONE = {
    "__deleted": "CASE WHEN __deleted = 'false' THEN 'true' END",
    "__op": "CASE WHEN __deleted = 'false' THEN 'd' END",
    "_order": "_order + 1L",
}


def delete_requested(table: HudiTable, bounds: Sequence[int]) -> None:
    """Deletes the live rows whose `_order` is below one of the bounds, as the table wants deletes. Idempotent."""
    if not bounds or not table.position:
        return
    rows = stored(table)
    bound = bound_of(rows, max(bounds), table.source)
    if orphans(rows, bound).take(1):
        table.commit_without_messages(lambda: tombstones(orphans(stored(table), bound), table.source))
        LOG.info("%s: rows with an order below %d are deleted", table.name, bound)


def stored(table: HudiTable) -> DataFrame:
    """All rows of the table as they are now, without Hudi's own columns."""
    rows = table.read()
    return rows.select(*[identifier(name) for name in rows.columns[META_COLUMNS:]])


def bound_of(rows: DataFrame, bound: int, table: Table) -> int:
    """The least `_order` of the rows that were sent again. bound: that of all messages since the request.

    Without a key nothing replaces what the former capture sent between the request and its end: the first row of the
    snapshot comes after that.
    """
    if not table.without_key:
        return bound
    first = rows.where("__op = 'r' AND _order >= {}".format(bound)).selectExpr("min(_order)").collect()[0][0]
    return bound if first is None else int(first)


def orphans(rows: DataFrame, bound: int) -> DataFrame:
    """The live rows that are older than the bound."""
    return rows.where("__deleted = 'false' AND _order < {}".format(bound))


def tombstones(rows: DataFrame, table: Table) -> DataFrame:
    """The rows as their lost deletes would have left them; columns, their order and types stay."""
    changed = ["{} AS {}".format(TOMBSTONE.get(name, identifier(name)), identifier(name)) for name in rows.columns]
    return erase_deleted(rows.selectExpr(*changed), table)
