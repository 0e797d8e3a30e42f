"""The path of a batch: messages of a topic become one commit of their Hudi table."""

import logging
import time
from contextlib import contextmanager
from typing import Iterator, Optional

from pyspark.sql import DataFrame

from spark_jobs.events import fencing
from spark_jobs.events.batch import Batch, summarize
from spark_jobs.events.decode_and_fit import decode_and_fit
from spark_jobs.events.held_twice import without_superfluous
from spark_jobs.events.latest_by_key import latest_by_key
from spark_jobs.events.multiset import folded
from spark_jobs.events.toast import carried
from spark_jobs.events.toast_from_table import Read, with_stored_values
from spark_jobs.events.writer_schemas import WriterSchemas
from spark_jobs.hudi.table import Commit, HudiTable
from spark_jobs.hudi.widening import widen

LOG = logging.getLogger("apply_batch")
SMALL_BATCH = 5000  # messages; up to this many, one task is faster than two


class Oversized(Exception):
    """A batch has more bytes than the limit. Nothing of it was written."""


def apply_batch(
    messages: DataFrame,
    table: HudiTable,
    schemas: WriterSchemas,
    lookahead: Optional[DataFrame] = None,
    limit: Optional[int] = None,
    replayed: bool = False,
) -> Optional[Commit]:
    """Commits one batch, with its position in the same commit; None when there was nothing to commit.

    Applying the same batch again changes nothing: rows carry their order. If it raises, nothing was written;
    TableWriter tries another way after Oversized, SchemaRefused, Unfillable and NoSuchRow.

    messages: partition, offset, value; lazy: the steps below fetch them
    lookahead: later messages that are to be applied with it; the position of the commit is the batch's
    limit: raises Oversized when the values are more bytes
    replayed: the messages are single ones from the quarantine, which do not change the position of the table
    """
    batch = summarize(messages, schemas)
    _refuse_oversized(batch, limit, table.name)
    known = table.reached["runs"]
    generations = known if replayed else fencing.generations_after(batch, known, schemas)
    current = fencing.drop_stale(batch, generations, schemas)
    if not current.partitions:
        return table.commit_offsets(batch.next_offsets)
    position = {**table.position_after(batch, current, generations), **(table.reached if replayed else {})}
    began = time.time()
    applied = _with_lookahead(current, lookahead, schemas)
    changed = _folded if table.source.is_multiset else _latest
    with changed(applied, table, schemas) as complete:
        widen(table, complete.schema)
        planned = time.time()
        many = batch.number > SMALL_BATCH
        commit = table.commit(complete, position, batch.value_bytes, current.committed_ms, many)
    took = planned - began, commit.at - planned
    LOG.info("%s: %d messages committed, %.2f s to plan, %.2f s to write", table.name, current.number, *took)
    return commit


def _refuse_oversized(batch: Batch, limit: Optional[int], name: str) -> None:
    if limit is not None and batch.value_bytes > limit:
        raise Oversized("{}: a batch of {} bytes".format(name, batch.value_bytes))


def _with_lookahead(batch: Batch, lookahead: Optional[DataFrame], schemas: WriterSchemas) -> Batch:
    if lookahead is None:
        return batch
    return summarize(batch.messages.union(lookahead.select(*batch.messages.columns)), schemas)


@contextmanager
def _folded(batch: Batch, table: HudiTable, schemas: WriterSchemas) -> Iterator[DataFrame]:
    """The rows of a multiset that the batch adds or ends."""
    with folded(decode_and_fit(batch, schemas, table.stored), _reader(table)) as rows:
        yield _few_tasks(rows, batch)


@contextmanager
def _latest(batch: Batch, table: HudiTable, schemas: WriterSchemas) -> Iterator[DataFrame]:
    """The newest change of each key."""
    fitted = decode_and_fit(batch, schemas, table.stored)
    rows = _few_tasks(without_superfluous(fitted, batch, schemas, table.stored, _reader(table)), batch)
    changes = carried(rows, table.source, batch.left_out)
    with _filled(latest_by_key(changes, table.source.keys), batch, table) as complete:
        yield complete


def _few_tasks(rows: DataFrame, batch: Batch) -> DataFrame:
    return rows.coalesce(1) if batch.number <= SMALL_BATCH else rows


@contextmanager
def _filled(latest: DataFrame, batch: Batch, table: HudiTable) -> Iterator[DataFrame]:
    """The rows with the large values that no message of the batch contains."""
    if not batch.left_out:
        yield latest
        return
    with with_stored_values(latest, table.source, _reader(table)) as complete:
        yield _few_tasks(complete, batch)


def _reader(table: HudiTable) -> Optional[Read]:
    return table.read if table.stored.columns.fields else None
