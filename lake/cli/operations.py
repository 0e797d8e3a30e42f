"""The commands for a whole lake: teardown and rebuild."""

import json
import time
from dataclasses import asdict

import typer
from rich.console import Console

from lake.cli import options
from lake.cli.parity_output import show
from lake.deployments.open import place
from lake.deployments.rebuild import rebuild as perform_rebuild
from lake.deployments.teardown import plan, refuse_protected, told
from lake.deployments.teardown import teardown as perform_teardown

KEEP = typer.Option(
    False, "--keep-data", help="Keep the objects of bronze and silver: on AWS where they are, here in .lake.kept/."
)
SHOW = typer.Option(False, "--plan", help="Show what would be deleted, and change nothing.")
console = Console(highlight=False)


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.command("teardown")(teardown)
    app.command("rebuild")(rebuild)


def teardown(
    env: str = options.ENV,
    yes: bool = options.YES,
    keep_data: bool = KEEP,
    show: bool = SHOW,
    as_json: bool = options.JSON,
) -> None:
    """Delete the whole lake: jobs, connectors, data, machines. Asks first.

    Shows everything that goes and what is lost with it; looks at the end that nothing is left but what it names.
    An environment with `protected: true` is refused. Interrupted, it goes on when it is called again.
    Exit code 0 when nothing is left, 1 when it failed or was not confirmed, 2 if the environment is refused.

    Example: lake teardown --env dev --plan
    """
    lake = place(env)
    if show:
        refuse_protected(lake)
        planned = plan(lake, keep_data)
        facts = [{**asdict(item), "deleted": goes} for item, goes in planned]
        print(json.dumps(facts, indent=2) if as_json else "\n".join(told(planned)) or "nothing stands")
        return
    left = perform_teardown(lake, keep_data, options.say, lambda question: yes or typer.confirm(question, err=True))
    if as_json:
        print(json.dumps([asdict(item) for item in left], indent=2))
        return
    for item in left:
        print(f"left on purpose: {item.where}: {item.kind} {item.name}")
    print(f"{env}: nothing else is left" if left else f"{env}: nothing is left")


def rebuild(env: str = options.ENV, yes: bool = options.YES, as_json: bool = options.JSON) -> None:
    """Delete the whole lake, deploy it anew, load it and prove it. Asks first.

    Interrupted, it goes on when it is called again: what was deployed by then is not deleted a second time.
    Exit code 0 only if every row is equal at the end, 1 if not, or if it was not confirmed, 2 if it is refused.

    Example: lake rebuild --yes
    """
    began = time.monotonic()
    result = perform_rebuild(place(env), options.say, lambda question: yes or typer.confirm(question, err=True))
    print(json.dumps(result)) if as_json else show(result)
    options.say(f"{env}: rebuilt and verified in {time.monotonic() - began:.0f} s")
    raise typer.Exit(0 if result["equal"] else 1)
