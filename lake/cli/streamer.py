"""`lake streamer`: the tables that HoodieStreamer writes from the archive, beside those that silver writes."""

import json
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.table import Table

from lake.aws.environment import LOCAL
from lake.cli import options
from lake.config.definition import load_databases
from lake.config.errors import LakeError
from lake.config.home import Home, load_home
from lake.config.names import named_targets
from lake.local.spark_job import last_log, run_job
from lake.rendering.pipeline import read_pipeline
from lake.rendering.streamer import (
    FILE_NAME,
    STATUS,
    Wish,
    job_arguments,
    local_places,
    streamer_path,
    write_streamer,
)

console = Console(highlight=False)
app = typer.Typer(no_args_is_help=True, help="HoodieStreamer: tables from the archive on S3.")


class Schemas(StrEnum):
    """Where HoodieStreamer has the schema of the archive from."""

    file = "file"
    registry = "registry"


class Kind(StrEnum):
    """The type of a Hudi table."""

    cow = "cow"
    mor = "mor"


def add_to(root: typer.Typer) -> None:
    """Register the commands."""
    root.add_typer(app, name="streamer")


@app.callback()
def streamer() -> None:
    """HoodieStreamer: tables from the archive on S3, in databases of their own, moma_cow_streamer beside moma_cow."""


@app.command()
def run(
    names: list[str] = typer.Argument(
        None, metavar="[DATABASE[.[SCHEMA.]TABLE]]...", help="Which tables; default all."
    ),
    once: bool = typer.Option(False, "--once", help="Read what the archive has now, and end."),
    kinds: list[Kind] = typer.Option(list(Kind), "--type", help="Which Hudi tables."),
    replay: bool = typer.Option(False, "--replay", help="Read the whole archive again first; no row gets older."),
    schemas: Schemas = typer.Option(
        Schemas.file, "--schemas", help="file: all versions that the registry has; registry: its newest."
    ),
    interval: float = typer.Option(5, "--interval", min=0, help="Seconds between two looks at the archive."),
    env: str = options.ENV,
    as_json: bool = typer.Option(False, "--json", help="With --once: print the result as JSON."),
) -> None:
    """Read the archive into Hudi tables: the first time by BULK_INSERT without duplicates, then by UPSERT.

    Here it runs until Ctrl-C unless --once is given. On AWS a step of EMR runs it: with --once this command waits for
    the result; without, it starts the job in place of the one that runs, and lake jobs stop streamer ends it. The next
    run goes on where the last commit ends. The archive is behind Kafka by bronze.trigger_s (environments/).
    A table that another run writes is refused. Exit code 1 if a table could not be read, 2 if the input is wrong.

    Example: lake streamer run moma.artists --once --type mor
    """
    wish = Wish(names or [], kinds, schemas, once, replay, interval)
    if env == LOCAL:
        result = _here(load_home(), wish, told if not as_json else lambda line: None)
        log = f"see: {last_log(load_home(), 'streamer')}"
    elif once:
        result, log = _on_aws(env, wish), f"see: lake jobs logs streamer-once --env {env}"
    else:
        _start_on_aws(env, wish)
        return
    print(json.dumps(result)) if as_json else show(result)
    _refuse_failed(result, log)


def _here(home: Home, wish: Wish, report: Callable[[str], None]) -> dict[str, Any]:
    """The result of spark_jobs/streamer.py over a freshly rendered file; report gets a line per commit."""
    named_targets(read_pipeline(home.environment), list(wish.names))  # BadInput before Spark starts
    folder = streamer_path(home.environment)
    rendered, status = folder / FILE_NAME, folder / STATUS
    write_streamer(load_databases(home.root), local_places(home.environment), rendered)
    status.unlink(missing_ok=True)
    words = job_arguments(wish, streamer=rendered.as_uri(), status=status.as_uri())
    jars = {"spark.driver.extraClassPath": class_path(home)}
    watch = Watch(status, report)
    return run_job(home, "streamer", words, conf=jars, watch=lambda log: watch.look())


def _on_aws(env: str, wish: Wish) -> dict[str, Any]:
    from lake.deployments.open import aws_place  # boto3 takes longer to load than most commands take

    return aws_place(env).stream_once(wish, options.say)


def _start_on_aws(env: str, wish: Wish) -> None:
    from lake.deployments.aws_jobs import AwsJobs
    from lake.deployments.open import aws_place

    job = AwsJobs(aws_place(env)).start_streamer(wish, options.say)
    print(f"{job.name}: {job.state} (step {job.id})")


def _refuse_failed(result: dict[str, Any], log: str) -> None:
    """LakeError when a table could not be read."""
    failed = {name: one["reason"] for name, one in result["tables"].items() if one["state"] == "failed"}
    if failed:
        name, reason = next(iter(failed.items()))
        now = f"what the tables hold stays right; run it again; {log}"
        raise LakeError(f"{len(failed)} tables could not be read, {name}: {reason}", "lake streamer", now)


def class_path(home: Home) -> str:
    """Spark's jars, and with them HoodieStreamer, which on EMR lies on the cluster."""
    return ":".join(str(home.build / folder / "*") for folder in ("spark", "streamer"))


class Watch:
    """Tells each new commit and each new failure once."""

    def __init__(self, status: Path, report: Callable[[str], None]) -> None:
        self._status = status
        self._report = report
        self._told: dict[str, Any] = {}

    def look(self) -> None:
        """Reads the status file, which the job replaces as a whole."""
        if not self._status.exists():
            return
        for name, table in json.loads(self._status.read_text(encoding="utf-8"))["tables"].items():
            fact = (table["commits"], table.get("reason"))
            if table["state"] not in ("waiting", "reading") and self._told.get(name) != fact:
                self._told[name] = fact
                self._report(f"{name}: {line(table)}")


def line(table: dict[str, Any]) -> str:
    """What one table has come to."""
    if table.get("reason"):
        return f"{table['state']}: {table['reason']}"
    if not table["commits"]:
        return "nothing new in the archive"
    return f"{table['rows']} rows in {table['commits']} commits, {table['operation']} at {table['instant']}"


def told(text: str) -> None:
    console.print(text, soft_wrap=True, markup=False)


def show(result: dict[str, Any]) -> None:
    """One line per Hudi table."""
    table = Table("table", "state", "rows", "commits", "seconds")
    for name, one in result["tables"].items():
        table.add_row(name, one["state"], str(one["rows"]), str(one["commits"]), str(one["seconds"]))
    console.print(table)
