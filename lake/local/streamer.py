"""HoodieStreamer run on this machine, as a job in the foreground."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lake.config.definition import load_databases
from lake.config.environment import Environment
from lake.config.errors import BadInput
from lake.config.names import named_targets
from lake.config.report import Report
from lake.config.versions import EMR, no_streamer
from lake.local.spark_job import last_log, run_job
from lake.rendering.pipeline import as_applied, read_pipeline
from lake.rendering.streamer import (
    FILE_NAME,
    STATUS,
    RunOptions,
    job_arguments,
    local_places,
    refuse_unreadable,
    streamer_path,
    write_streamer,
)

JOB = "streamer"


def run(home: Environment, options: RunOptions, report: Report) -> dict[str, Any]:
    """The result of spark_jobs/streamer.py over a freshly rendered file. Reports each commit and each failure.

    BadInput on a release whose Hudi has no HoodieStreamer here.
    """
    if reason := no_streamer(home.release):
        raise BadInput(reason, f"the release of the lake {home.name}", f"run it on {EMR}")
    named_targets(read_pipeline(home), list(options.names))  # BadInput before Spark starts
    databases = [as_applied(one, read_pipeline(home)) for one in load_databases(home.root)]
    refuse_unreadable(databases, options.names)
    folder = streamer_path(home)
    rendered, status = folder / FILE_NAME, folder / STATUS
    write_streamer(databases, local_places(home), rendered)
    status.unlink(missing_ok=True)
    words = job_arguments(options, streamer=rendered.as_uri(), status=status.as_uri())
    jars = {"spark.driver.extraClassPath": class_path(home)}
    look = reporter(status, report)
    return run_job(home, JOB, words, conf=jars, watch=lambda log: look())


def log_hint(home: Environment) -> str:
    """Where the last run wrote its log."""
    return f"see: {last_log(home, JOB)}"


def class_path(home: Environment) -> str:
    """Spark's jars and HoodieStreamer, which is installed on an EMR cluster."""
    return ":".join(str(folder / "*") for folder in (home.spark_build / "spark", home.build / JOB))


def reporter(status: Path, report: Report) -> Callable[[], None]:
    """A function that reports each new commit and each new failure of a status file once."""
    reported: dict[str, Any] = {}

    def look() -> None:
        content = json.loads(status.read_text(encoding="utf-8")) if status.exists() else {"tables": {}}
        for name, table in content["tables"].items():
            fact = (table["commits"], table.get("reason"))
            if table["state"] not in ("waiting", "reading") and reported.get(name) != fact:
                reported[name] = fact
                report(f"{name}: {_line(table)}")

    return look


def _line(table: dict[str, Any]) -> str:
    """The outcome of one table."""
    if table.get("reason"):
        return f"{table['state']}: {table['reason']}"
    if not table["commits"]:
        return "nothing new in the archive"
    return f"{table['rows']} rows in {table['commits']} commits, {table['operation']} at {table['instant']}"
