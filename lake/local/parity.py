"""The comparison of the lake with its source, run here as a Spark job."""

import time
from pathlib import Path
from typing import Any

from lake.clients.stream_status import wait_for_snapshots
from lake.config.definition import load_databases
from lake.config.environment import LOOPBACK, Environment
from lake.config.names import as_options, named_tables
from lake.config.report import Report
from lake.local.spark_job import Watch, last_progress, run_job
from lake.rendering.pipeline import read_pipeline
from lake.sources.postgres.roles import VERIFY

PASSWORD, HASHES = "LAKE_VERIFY_PASSWORD", "LAKE_HASH_PASSWORD"


def compare(home: Environment, names: list[str], timeout_s: float, report: Report) -> dict[str, Any]:
    """The result of spark_jobs/verify.py; BadInput for a name that is not in the lake."""
    if names:
        named_tables(read_pipeline(home), names)  # before Spark starts
    databases = [one for one in load_databases(home.root) if not names or any(map(one.is_named_by, names))]
    began = time.monotonic()
    wait_for_snapshots(home, databases, report, timeout_s)
    report("starting Spark")
    left_s = max(1.0, timeout_s - (time.monotonic() - began))

    def watch(log: Path) -> None:
        if line := last_progress(log, "verify"):
            report(line)

    return run_reader(home, "verify", [*as_options(names), "--timeout-s", str(left_s)], watch)


def run_reader(home: Environment, job: str, arguments: list[str], watch: Watch = lambda log: None) -> dict[str, Any]:
    """The result of a job that reads the source, too."""
    login = ["--jdbc-url", f"jdbc:postgresql://{LOOPBACK}:{home.ports.postgres}", "--user", VERIFY]
    secrets = {PASSWORD: home.secrets.lake_verify, HASHES: home.secrets.column_hashes}
    return run_job(home, job, [*login, *arguments], secrets, watch=watch)
