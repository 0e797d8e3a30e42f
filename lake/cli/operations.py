"""The commands for a whole lake: teardown and rebuild."""

import time
from dataclasses import asdict

import typer

from lake.cli import options
from lake.cli.parity_output import show
from lake.deployments.open import open_deployment
from lake.deployments.rebuild import rebuild as perform_rebuild
from lake.deployments.teardown import described, plan, refuse_protected
from lake.deployments.teardown import teardown as perform_teardown

KEEP = typer.Option(
    False, "--keep-data", help="Keep the objects of bronze and silver: on AWS in place, here in .lake.kept/."
)
SHOW = typer.Option(False, "--plan", help="Show what would be deleted. Changes nothing.")


def teardown(
    env: str = options.ENV,
    yes: bool = options.YES,
    keep_data: bool = KEEP,
    show: bool = SHOW,
    as_json: bool = options.JSON,
) -> None:
    """Delete the whole lake: jobs, connectors, data, machines. Asks for confirmation.

    Shows everything that is deleted and what is lost with it. Checks at the end that only the named resources remain.
    An environment with `protected: true` is refused. If it is interrupted, run it again: it continues.
    Exit code 0 when nothing is left, 1 if it failed or was not confirmed, 2 if the environment is refused.

    Example: lake teardown --env dev --plan
    """
    if show:
        return _show_plan(env, keep_data, as_json)
    left = perform_teardown(
        open_deployment(env), keep_data, options.say, lambda question: options.confirm(question, yes)
    )
    if as_json:
        return options.print_json([asdict(one) for one in left])
    for one in left:
        print(f"left on purpose: {one.where}: {one.kind} {one.name}")
    return print(f"{env}: nothing else is left" if left else f"{env}: nothing is left")


def _show_plan(env: str, keep_data: bool, as_json: bool) -> None:
    deployment = open_deployment(env)
    refuse_protected(deployment)
    planned = plan(deployment, keep_data)
    if as_json:
        options.print_json([{**asdict(one), "deleted": deleted} for one, deleted in planned])
    else:
        print("\n".join(described(planned)) or "the lake has no resources")


def rebuild(env: str = options.ENV, yes: bool = options.YES, as_json: bool = options.JSON) -> None:
    """Delete the whole lake, deploy and load it again, and validate the data. Asks for confirmation.

    If it is interrupted, run it again: it continues, and does not delete the new lake.
    Exit code 0 only if every row is equal at the end, 1 if not or if not confirmed, 2 if it is refused.

    Example: lake rebuild --yes
    """
    began = time.monotonic()
    result = perform_rebuild(open_deployment(env), options.say, lambda question: options.confirm(question, yes))
    options.print_json(result) if as_json else show(result)
    options.say(f"{env}: rebuilt and verified in {time.monotonic() - began:.0f} s")
    raise typer.Exit(0 if result["equal"] else 1)
