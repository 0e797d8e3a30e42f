"""The comparison of the lake with its source, run here as a Spark job."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.markup import escape

from lake.clients.stream_status import wait_for_snapshots
from lake.config.definition import load_databases
from lake.config.environment import LOOPBACK
from lake.config.home import Home, load_home
from lake.local.spark_job import last_told, run_job

USER = "lake_verify"
PASSWORD = "LAKE_VERIFY_PASSWORD"


def compare(names: list[str], timeout_s: float, say: Callable[[str], None]) -> dict[str, Any]:
    """The result of spark_jobs/verify.py; BadInput for a name that is not in the lake."""
    home = load_home()
    _wait_for_snapshots(home, names, timeout_s, say)
    say("starting Spark")
    url = f"jdbc:postgresql://{LOOPBACK}:{home.ports.postgres}"
    login = ["--jdbc-url", url, "--user", USER, "--timeout-s", str(timeout_s)]
    password = {PASSWORD: home.secrets.lake_verify}
    return run_job(home, "verify", [*login, "--tables", ",".join(names)], password, watch=lambda log: _tell(log, say))


def _tell(log: Path, say: Callable[[str], None]) -> None:
    if line := last_told(log, "verify"):
        say(escape(line))


def _wait_for_snapshots(home: Home, names: list[str], timeout_s: float, say: Callable[[str], None]) -> None:
    named = {name.partition(".")[0] for name in names}
    databases = [one for one in load_databases(home.root) if not named or one.database in named]
    wait_for_snapshots(home, databases, say, timeout_s)
