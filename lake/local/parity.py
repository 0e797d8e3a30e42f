"""The comparison of the lake with its source, run here as a Spark job."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from lake.clients.stream_status import wait_for_snapshots
from lake.config.definition import load_databases
from lake.config.environment import LOOPBACK
from lake.config.home import Home
from lake.config.report import Report
from lake.local.spark_job import last_progress, run_job
from lake.sources.postgres.roles import VERIFY

PASSWORD = "LAKE_VERIFY_PASSWORD"


def compare(home: Home, names: list[str], timeout_s: float, report: Report) -> dict[str, Any]:
    """The result of spark_jobs/verify.py; BadInput for a name that is not in the lake."""
    _wait_for_snapshots(home, names, timeout_s, report)
    report("starting Spark")
    arguments = ["--tables", ",".join(names), "--timeout-s", str(timeout_s)]
    return run_reader(home, "verify", arguments, watch=lambda log: _tell(log, report))


def run_reader(
    home: Home, job: str, arguments: list[str], watch: Callable[[Path], None] | None = None
) -> dict[str, Any]:
    """The result of a job that reads the source, too."""
    login = ["--jdbc-url", f"jdbc:postgresql://{LOOPBACK}:{home.ports.postgres}", "--user", VERIFY]
    return run_job(home, job, [*login, *arguments], {PASSWORD: home.secrets.lake_verify}, watch=watch)


def _tell(log: Path, report: Report) -> None:
    if line := last_progress(log, "verify"):
        report(line)


def _wait_for_snapshots(home: Home, names: list[str], timeout_s: float, report: Report) -> None:
    named = {name.partition(".")[0] for name in names}
    databases = [one for one in load_databases(home.root) if not named or one.database in named]
    wait_for_snapshots(home, databases, report, timeout_s)
