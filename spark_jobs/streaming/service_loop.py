"""What the streaming job does for its tables between commits: table services, and requests about the quarantine."""

import logging
from typing import List

from spark_jobs.hudi import table_services
from spark_jobs.hudi.table import HudiTable
from spark_jobs.hudi.table_services import COMPACT, DELETE_ORPHANS
from spark_jobs.runtime.errors import root_cause
from spark_jobs.runtime.pipeline import Pipeline
from spark_jobs.streaming import quarantine_requests
from spark_jobs.streaming.application import Application
from spark_jobs.streaming.control import DONE, Control
from spark_jobs.streaming.table_writer import TableWriter

LOG = logging.getLogger("services")


def serve(app: Application, pipeline: Pipeline, writers: List[TableWriter]) -> None:
    """One round over all tables, one after the other. Requests about the quarantine wait for one table at most."""
    control, tables = Control(app.spark, pipeline.requests), [writer.table for writer in writers]
    quarantine_requests.serve(control, app.quarantines, pipeline, writers)
    for table in tables:
        table_services.sync_overdue(tables, app.progress)
        with app.services.turn():
            if app.leases.holds(table.path):
                _attend(app, table, control, pipeline.silver["service_commits"])
        quarantine_requests.serve(control, app.quarantines, pipeline, writers)


def _attend(app: Application, table: HudiTable, control: Control, every: int) -> None:
    try:
        found = control.pending(COMPACT, DELETE_ORPHANS)
        requests = [one for one in found if one.arguments.get("table") == table.name]
        compact = any(one.verb == COMPACT for one in requests)
        bounds = [int(one.arguments["bound"]) for one in requests if one.verb == DELETE_ORPHANS]
        done = table_services.attend(table, app.progress, every, compact, bounds)
        for one in requests:
            if one.verb in done:
                control.answer(one, DONE, {})
    except Exception as error:  # py4j: the storage does not answer, and the requests stay
        LOG.warning("%s: requests are not served: %s", table.name, root_cause(error))
