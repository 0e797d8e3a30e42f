"""The commands `lake jobs ...`."""

from dataclasses import asdict
from enum import StrEnum
from typing import Any

import typer
from rich.text import Text

from lake.cli import options
from lake.config.errors import BadInput
from lake.deployments.deployment import Job
from lake.deployments.open import open_deployment
from lake.rendering.sales import SalesOptions

JOB = typer.Argument(help="Name or step id, as in: lake jobs list")
REGIONS = typer.Option(None, "--regions", metavar="FILE", help="Countries and regions; default data/sales.")
FORMAT = typer.Option(None, "--format", help="Of the results on S3; default csv.")
SHOWN = 25  # rows of a result
GOOD = ("running", "starting", "completed", "pending")


class Format(StrEnum):
    """The format of results."""

    csv = "csv"
    parquet = "parquet"


jobs = typer.Typer(name="jobs", no_args_is_help=True, help="Start, watch and stop the Spark jobs.")


@jobs.command("list")
def show_all(env: str = options.ENV, as_json: bool = options.JSON) -> None:
    """Show all jobs: first the continuous ones, then the steps, the newest first.

    Exit code 0, also if a job failed.

    Example: lake jobs list --env dev
    """
    _print(open_deployment(env).jobs.all(), as_json)


@jobs.command()
def status(name: str = JOB, env: str = options.ENV, as_json: bool = options.JSON) -> None:
    """Show one job. Exit code 1 unless it runs or has succeeded.

    Example: lake jobs status stream --env dev --json
    """
    found = [one for one in open_deployment(env).jobs.all() if name in (one.name, one.id)][:1]
    if not found:
        raise BadInput(f"there is no job '{name}'", env, f"see: lake jobs list --env {env}")
    _print(found, as_json)
    raise typer.Exit(0 if found[0].state in GOOD else 1)


@jobs.command()
def run(
    name: str = JOB,
    again: bool = typer.Option(False, "--again", help="Send all sales, also those that the topic holds already."),
    missing: bool = typer.Option(False, "--missing", help="Send the sales that the topic does not hold yet."),
    rate: float | None = typer.Option(None, "--rate", min=0, help="Messages a second; 0: all at once."),
    form: Format | None = FORMAT,
    env: str = options.ENV,
    as_json: bool = options.JSON,
) -> None:
    """Run a job about sales to its end, and print its result (docs/sales.md).

    A producer refuses a topic that holds some of its sales already, with exit code 2, unless it is told --again or
    --missing.

    Example: lake jobs run sales-incremental --rate 20
    """
    wanted = SalesOptions(again=again, missing=missing, rate=rate, format=form)
    with options.progress(f"{name}: starting") as report:
        result = open_deployment(env).jobs.run(name, wanted, report)
    options.print_json(result) if as_json else _show(result)


@jobs.command()
def submit(
    name: str = JOB,
    regions: str | None = REGIONS,
    trigger: float | None = typer.Option(None, "--trigger", min=0, help="Seconds between two batches; default 60."),
    form: Format | None = FORMAT,
    anew: bool = typer.Option(False, "--anew", help="Forget the checkpoint: read from the first message on."),
    env: str = options.ENV,
    as_json: bool = options.JSON,
) -> None:
    """Start a continuous job in place of the running one. It continues from its checkpoint.

    Returns once the job is accepted. On failure: the reason, the end of its log, and exit code 1. The options are of
    the jobs about sales.

    Example: lake jobs submit stream --env dev
    """
    wanted = SalesOptions(regions=regions, trigger=trigger, format=form, anew=anew)
    _print([open_deployment(env).jobs.submit(name, options.say, wanted)], as_json)


@jobs.command()
def stop(name: str = JOB, env: str = options.ENV, as_json: bool = options.JSON) -> None:
    """Stop a continuous job, or cancel a step. Returns once it has ended. Unfinished commits are rolled back.

    Example: lake jobs stop stream --env dev
    """
    _print([open_deployment(env).jobs.stop(name, options.say)], as_json)


@jobs.command()
def logs(
    name: str = JOB,
    env: str = options.ENV,
    lines: int = typer.Option(100, "-n", "--lines", min=1, help="How many lines from the end."),
) -> None:
    """Print the last lines of the log of a job's last start. Exit code 1 if EMR has not copied it to S3 yet.

    Example: lake jobs logs verify --env dev -n 20
    """
    print("\n".join(open_deployment(env).jobs.log(name, lines)))


def _show(result: dict[str, Any]) -> None:
    """The first rows as a table, and all other facts in a line each."""
    for key, value in result.items():
        if key != "rows":
            options.out.print(f"{key}: {value}", markup=False)
    rows = result.get("rows", [])
    if rows:
        shown = [[str(value) for value in row.values()] for row in rows[:SHOWN]]
        options.out.print(options.table(list(rows[0]), shown))
    if len(rows) > SHOWN:
        options.out.print(f"the first {SHOWN} of {len(rows)}; all: --json")


def _print(found: list[Job], as_json: bool) -> None:
    if as_json:
        return options.print_json([asdict(one) for one in found])
    columns = ["job", "kind", "state", "step", "last report", "last batch", ""]
    return options.out.print(options.table(columns, map(_row, found)))


def _row(one: Job) -> list[str | Text]:
    ago = "" if one.reported_s is None else f"{one.reported_s:.0f} s ago"
    kind, state = "continuous" if one.continuous else "step", options.coloured(one.state, one.state in GOOD)
    return [one.name, kind, state, one.id, ago, _batch(one.progress), one.reason]


def _batch(progress: dict[str, Any]) -> str:
    """The last batch in a few words; --json has its offsets."""
    if "batch" not in progress:
        return ""
    return f"{progress['batch']}: {progress['rows']} rows, {progress['state_rows']} of state"
