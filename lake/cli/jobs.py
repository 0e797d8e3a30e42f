"""The commands `lake jobs ...`."""

from dataclasses import asdict

import typer
from rich.text import Text

from lake.cli import options
from lake.config.errors import BadInput
from lake.deployments.deployment import Job
from lake.deployments.open import open_deployment

JOB = typer.Argument(help="Name or step id, as in: lake jobs list")
GOOD = ("running", "starting", "completed", "pending")
jobs = typer.Typer(name="jobs", no_args_is_help=True, help="Start, watch and stop the Spark jobs.")


@jobs.command("list")
def show_all(env: str = options.ENV, as_json: bool = options.JSON) -> None:
    """Show all jobs: those that never end, then the steps that were run, the newest first.

    Exit code 0, whatever state they are in.

    Example: lake jobs list --env dev
    """
    _print(open_deployment(env).jobs.all(), as_json)


@jobs.command()
def status(name: str = JOB, env: str = options.ENV, as_json: bool = options.JSON) -> None:
    """Show one job; exit code 1 unless it runs, or ended well.

    Example: lake jobs status stream --env dev --json
    """
    found = [one for one in open_deployment(env).jobs.all() if name in (one.name, one.id)][:1]
    if not found:
        raise BadInput(f"there is no job '{name}'", env, f"see: lake jobs list --env {env}")
    _print(found, as_json)
    raise typer.Exit(0 if found[0].state in GOOD else 1)


@jobs.command()
def submit(name: str = JOB, env: str = options.ENV, as_json: bool = options.JSON) -> None:
    """Start a job that never ends, in place of the one that runs; it continues from its checkpoint.

    Returns once it is accepted. On failure: the reason and the end of its log, and exit code 1.

    Example: lake jobs submit stream --env dev
    """
    _print([open_deployment(env).jobs.submit(name, options.say)], as_json)


@jobs.command()
def stop(name: str = JOB, env: str = options.ENV, as_json: bool = options.JSON) -> None:
    """Stop a job that never ends, or cancel a step; returns once it has ended. Its unfinished commits are rolled back.

    Example: lake jobs stop stream --env dev
    """
    _print([open_deployment(env).jobs.stop(name, options.say)], as_json)


@jobs.command()
def logs(
    name: str = JOB,
    env: str = options.ENV,
    lines: int = typer.Option(100, "-n", "--lines", min=1, help="How many lines from the end."),
) -> None:
    """Print the end of the log of a job's last start; exit code 1 when EMR has not brought it yet.

    Example: lake jobs logs verify --env dev -n 20
    """
    print("\n".join(open_deployment(env).jobs.log(name, lines)))


def _print(found: list[Job], as_json: bool) -> None:
    if as_json:
        return options.print_json([asdict(one) for one in found])
    columns = ["job", "kind", "state", "step", "last report", ""]
    return options.out.print(options.table(columns, map(_row, found)))


def _row(one: Job) -> list[str | Text]:
    ago = "" if one.reported_s is None else f"{one.reported_s:.0f} s ago"
    kind, state = "continuous" if one.continuous else "step", options.coloured(one.state, one.state in GOOD)
    return [one.name, kind, state, one.id, ago, one.reason]
