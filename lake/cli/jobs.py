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
def submit(name: str = JOB, env: str = options.ENV, as_json: bool = options.JSON) -> None:
    """Start a continuous job in place of the running one. It continues from its checkpoint.

    Returns once the job is accepted. On failure: the reason, the end of its log, and exit code 1.

    Example: lake jobs submit stream --env dev
    """
    _print([open_deployment(env).jobs.submit(name, options.say)], as_json)


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


def _print(found: list[Job], as_json: bool) -> None:
    if as_json:
        return options.print_json([asdict(one) for one in found])
    columns = ["job", "kind", "state", "step", "last report", ""]
    return options.out.print(options.table(columns, map(_row, found)))


def _row(one: Job) -> list[str | Text]:
    ago = "" if one.reported_s is None else f"{one.reported_s:.0f} s ago"
    kind, state = "continuous" if one.continuous else "step", options.coloured(one.state, one.state in GOOD)
    return [one.name, kind, state, one.id, ago, one.reason]
