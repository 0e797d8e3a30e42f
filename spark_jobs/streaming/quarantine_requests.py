"""Requests to replay or drop messages in quarantine. The streaming job serves them, because a table has one writer.

The arguments of a request are {"database", "ids", "by"}; without ids it means all messages that wait. With "bounds", an
order by topic, it means only messages below. The result is {"settled": [id], "refused": [{"id", "reason"}]}.
"""

import logging
from typing import Any, Dict, List, Sequence, Tuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from spark_jobs.events import validate
from spark_jobs.events.flatten import EPOCH_SIZE
from spark_jobs.quarantine.table import DROPPED, REPLAYED, WAITING, Quarantine, Quarantines
from spark_jobs.runtime.errors import root_cause
from spark_jobs.runtime.pipeline import Pipeline
from spark_jobs.streaming.control import DONE, DROP, FAILED, REPLAY, Control
from spark_jobs.streaming.table_writer import TableWriter

LOG = logging.getLogger("replay")
NOT_WAITING = "no message of this id waits"
OUTLIVED = "it belongs to an earlier epoch of the topic, whose rows were read again later: drop it"
Refused = List[Dict[str, str]]


def serve(control: Control, quarantines: Quarantines, pipeline: Pipeline, writers: Sequence[TableWriter]) -> None:
    """Serves the pending requests. writers: of all tables that are written."""
    try:
        for request in control.pending(REPLAY, DROP):
            try:
                result = settle(quarantines, pipeline, writers, request.verb, request.arguments)
                control.answer(request, DONE, result)
            except Exception as error:  # py4j: the operator has to know of any error
                LOG.exception("%s", request)
                control.answer(request, FAILED, {"error": root_cause(error)})
    except Exception as error:  # py4j: the storage does not answer, and the requests stay
        LOG.warning("requests are not served: %s", root_cause(error))


def settle(
    quarantines: Quarantines, pipeline: Pipeline, writers: Sequence[TableWriter], verb: str, request: Dict[str, Any]
) -> Dict[str, Any]:
    """The result of one request."""
    quarantine = quarantines.of(pipeline, request["database"])
    wanted = quarantine.stored().where(F.col("state") == WAITING)
    if request["ids"]:
        wanted = wanted.where(F.col("id").isin(request["ids"]))
    if "bounds" in request:
        wanted = wanted.where(below(request["bounds"]))
    settled = ids_of(wanted)
    refused = because(sorted(set(request["ids"]) - set(settled)), NOT_WAITING)
    if verb == DROP and settled:
        quarantine.settle(wanted, DROPPED, request["by"])
    if verb == REPLAY:
        settled = []
        for topic in sorted(row[0] for row in wanted.select("topic").distinct().collect()):
            problem, able = writers_of(pipeline, writers, topic)
            done, kept = replay(quarantine, wanted.where(F.col("topic") == topic), problem, able, request["by"])
            settled, refused = settled + done, refused + kept
    return {"settled": settled, "refused": refused}


def replay(
    quarantine: Quarantine, waiting: DataFrame, problem: str, writers: List[TableWriter], by: str
) -> Tuple[List[str], Refused]:
    """Sends messages of one topic through all its tables again. One leaves the quarantine when all tables have it.

    Returns the ids that were applied, and the others with the reason. problem: why none can be applied.
    """
    if problem:
        return [], because(ids_of(waiting), problem)
    table = writers[0].table.source
    of_now = F.col("epoch") == table.epoch
    refused = because(ids_of(waiting.where(~of_now)), OUTLIVED)
    annotated = validate.annotate(waiting.where(of_now), table, writers[0].registry)
    bad = annotated.where(F.col(validate.REASON).isNotNull()).select("id", validate.REASON)
    refused += [{"id": row["id"], "reason": row[validate.REASON]} for row in bad.collect()]
    valid = annotated.where(F.col(validate.REASON).isNull())
    ids = ids_of(valid)
    try:
        for writer in writers if ids else ():
            writer.replay(valid)
    except Exception as error:  # py4j: a table refuses, and says why
        return [], refused + because(ids, root_cause(error))
    quarantine.settle(valid, REPLAYED, by)
    return ids, refused


def writers_of(pipeline: Pipeline, writers: Sequence[TableWriter], topic: str) -> Tuple[str, List[TableWriter]]:
    """Why the tables of a topic can't be written, or '', and the writers of all of them."""
    paths = [target.path for table in pipeline.tables if table.topic == topic for target in table.targets]
    found = [writer for writer in writers if writer.table.path in paths]
    if not paths:
        return "{} is no longer captured: drop it".format(topic), []
    if len(found) < len(paths):
        return "not all tables of {} are written now; see: lake status".format(topic), []
    return "", found


def below(bounds: Dict[str, int]) -> Column:
    """The condition that the order of a message is below the bound of its topic."""
    order = F.col("epoch").cast("long") * EPOCH_SIZE + F.col("offset")
    least = F.create_map(*[F.lit(item) for pair in bounds.items() for item in pair])[F.col("topic")]
    return F.coalesce(order < least, F.lit(False))


def ids_of(entries: DataFrame) -> List[str]:
    """The ids of entries, sorted."""
    return sorted(row[0] for row in entries.select("id").collect())


def because(ids: List[str], reason: str) -> Refused:
    """The same reason for each id."""
    return [{"id": one, "reason": reason} for one in ids]
