"""`lake streamer`: tables that HoodieStreamer writes from the archive, in addition to those of the streaming job."""

from enum import StrEnum
from typing import Any

import typer

from lake.cli import options
from lake.config.errors import LakeError
from lake.config.report import silent
from lake.deployments.open import open_deployment
from lake.rendering.streamer import RunOptions

app = typer.Typer(name="streamer", no_args_is_help=True, help="HoodieStreamer: tables from the archive on S3.")


class Schemas(StrEnum):
    """The source of the schema of the archive."""

    file = "file"
    registry = "registry"


class Kind(StrEnum):
    """The type of a Hudi table."""

    cow = "cow"
    mor = "mor"


@app.callback()
def streamer() -> None:
    """HoodieStreamer: tables from the archive on S3, in separate databases: moma_cow_streamer, not moma_cow."""


@app.command()
def run(
    names: list[str] = options.TABLES,
    once: bool = typer.Option(False, "--once", help="Read what is in the archive now, then end."),
    kinds: list[Kind] = typer.Option(list(Kind), "--type", help="Types of the Hudi tables."),
    replay: bool = typer.Option(
        False, "--replay", help="First read the whole archive again. No row returns to an older version."
    ),
    schemas: Schemas = typer.Option(
        Schemas.file, "--schemas", help="file: all versions in the registry. registry: only the newest."
    ),
    interval: float = typer.Option(5, "--interval", min=0, help="Seconds between two reads of the archive."),
    env: str = options.ENV,
    as_json: bool = options.JSON,
) -> None:
    """Read the archive into Hudi tables: the first time by BULK_INSERT without duplicates, then by UPSERT.

    On this machine it runs until Ctrl-C, or with --once to its end. On AWS it runs as an EMR step: with --once the
    command waits for the result. Without --once it starts the job in place of the running one; lake jobs stop streamer
    stops it. The next run continues after the last commit. The archive is up to bronze.trigger_s (environments/) older
    than Kafka. A table that another run writes is refused.
    Exit code 1 if a table could not be read, 2 if the input is wrong.

    Example: lake streamer run moma.artists --once --type mor
    """
    wanted = RunOptions(names or [], kinds, schemas, once, replay, interval)
    found = open_deployment(env).run_streamer(wanted, silent if as_json else _say)
    if found.job:
        return print(f"{found.job.name}: {found.job.state} (step {found.job.id})")
    options.print_json(found.result) if as_json else _show(found.result)
    return _refuse_failed(found.result, found.log)


def _say(line: str) -> None:
    options.out.print(line, markup=False)


def _refuse_failed(result: dict[str, Any], log: str) -> None:
    """LakeError when a table could not be read."""
    failed = {name: one["reason"] for name, one in result["tables"].items() if one["state"] == "failed"}
    if failed:
        name, reason = next(iter(failed.items()))
        now = f"the rows in the tables are correct; run it again; {log}"
        raise LakeError(f"{len(failed)} tables could not be read, {name}: {reason}", "lake streamer", now)


def _show(result: dict[str, Any]) -> None:
    """One line per Hudi table."""
    rows = (
        (name, one["state"], str(one["rows"]), str(one["commits"]), str(one["seconds"]))
        for name, one in result["tables"].items()
    )
    options.out.print(options.table(["table", "state", "rows", "commits", "seconds"], rows))
