"""The jobs in which HoodieStreamer follows one table of one type each."""

from dataclasses import dataclass

from lake.aws.processing import STREAMER, Processing, Streamer
from lake.config.definition import Database, Table, TableType
from lake.config.errors import BadInput
from lake.config.names import refuse_unknown

MOST = 20  # applications of their own, each with a driver


@dataclass(frozen=True)
class TableJob:
    """table: "moma.artists"."""

    table: str
    kind: TableType

    @property
    def name(self) -> str:
        """The name of the job, "streamer.moma.artists.cow"; no job of the environment file has a dot in its name."""
        return f"{STREAMER}.{self.table}.{self.kind}"


def table_jobs(processing: Processing, databases: list[Database]) -> list[TableJob]:
    """Those that the deployment starts: none unless processing.jobs has the job. BadInput for an unknown table."""
    if STREAMER not in processing.jobs:
        return []
    jobs = chosen(processing.streamer, databases)
    if not 1 <= len(jobs) <= MOST:
        what = (
            f"{len(jobs)} tables for the job {STREAMER}, each with an application of its own; 1 to {MOST} are possible"
        )
        raise BadInput(what, WHERE, "name fewer tables or types there, or run: lake streamer run, which takes turns")
    return jobs


WHERE = f"key processing.{STREAMER}.tables"


def chosen(streamer: Streamer, databases: list[Database]) -> list[TableJob]:
    """One per named table and type that it has."""
    known = {name: tables for database in databases for name, tables in _by_name(database).items()}
    refuse_unknown("table or database", streamer.tables, known, WHERE)
    wanted = [pair for name in (streamer.tables or [one.database for one in databases]) for pair in known[name]]
    found = [TableJob(f"{name}.{table.name}", kind) for name, table in wanted for kind in table.types]
    return sorted({one for one in found if one.kind in streamer.types}, key=lambda one: one.name)


def _by_name(database: Database) -> dict[str, list[tuple[str, Table]]]:
    """The tables that a name of a database or a table means."""
    name = database.database
    tables = {f"{name}.{table.name}": [(name, table)] for table in database.tables}
    return {name: [(name, table) for table in database.tables], **tables}
