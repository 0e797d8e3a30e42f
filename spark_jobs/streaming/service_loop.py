"""What the streaming job does for its tables between commits: table services, and requests about the quarantine."""

import logging
import time
from typing import List

from spark_jobs.hudi import table_services
from spark_jobs.hudi.table import HudiTable
from spark_jobs.hudi.table_services import COMPACT, DELETE_ORPHANS
from spark_jobs.runtime.errors import root_cause
from spark_jobs.runtime.pipeline import Pipeline
from spark_jobs.streaming import quarantine_requests
from spark_jobs.streaming.application import Application
from spark_jobs.streaming.control import DONE, REREAD, WRONG, Control, Request
from spark_jobs.streaming.managed_queries import ManagedQueries

LOG = logging.getLogger("services")


def serve(app: Application, pipeline: Pipeline, queries: ManagedQueries) -> None:
    """One round over all tables, one after the other. Requests about the quarantine wait for one table at most.

    A table for which nothing is due costs nothing. Requests for tables are listed once a round, those about the
    quarantine also after each table that had something to do.
    """
    control, every = Control(app.spark, pipeline.requests), int(pipeline.silver["service_commits"])
    writers = [writer for _, writer in queries.of_tables()]
    tables = [writer.table for writer in writers]
    requests = _requests(control)
    _reread(control, [one for one in requests if one.verb == REREAD], queries)
    quarantine_requests.serve(control, app.quarantines, pipeline, writers)
    for table in tables:
        own = [one for one in requests if one.verb != REREAD and one.arguments.get("table") == table.name]
        if own or table_services.is_due(table, every, time.time()):
            table_services.sync_overdue(tables, app.progress)
            with app.services.turn():
                if app.leases.holds(table.path):
                    _attend(app, table, control, own, every)
            quarantine_requests.serve(control, app.quarantines, pipeline, writers)


def _requests(control: Control) -> List[Request]:
    try:
        return control.pending(COMPACT, DELETE_ORPHANS, REREAD)
    except Exception as error:  # py4j: the storage does not answer, and the requests stay
        LOG.warning("requests are not served: %s", root_cause(error))
        return []


def _reread(control: Control, requests: List[Request], queries: ManagedQueries) -> None:
    """Serves the requests to read topics again."""
    tables = {managed.name: managed for managed, _ in queries.of_tables()}
    for one in requests:
        managed = tables.get(str(one.arguments.get("table")))
        feed = managed and managed.query
        try:
            if feed:
                feed.rewind(one.arguments["offsets"])
                control.answer(one, DONE, {})
            elif managed:  # it waits for the start of the table
                managed.hasten()
        except (KeyError, ValueError, TypeError, AttributeError) as error:
            control.answer(one, WRONG, {"error": "offsets must be given by partition: {}".format(error)})


def _attend(app: Application, table: HudiTable, control: Control, requests: List[Request], every: int) -> None:
    try:
        compact = any(one.verb == COMPACT for one in requests)
        bounds = [int(one.arguments["bound"]) for one in requests if one.verb == DELETE_ORPHANS]
        done = table_services.attend(table, app.progress, every, compact, bounds)
        for one in requests:
            if one.verb in done:
                control.answer(one, DONE, {})
    except Exception as error:  # py4j: the storage does not answer, and the requests stay
        LOG.warning("%s: requests are not served: %s", table.name, root_cause(error))
