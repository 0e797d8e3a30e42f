"""What many commands share: their options, and how they tell of progress."""

import sys

import typer

ENV = typer.Option("local", "--env", "-e", help="The file environments/<name>.yaml.")
JSON = typer.Option(False, "--json", help="Print facts for machines.")
YES = typer.Option(False, "--yes", help="Do not ask: for scripts.")


def say(line: str) -> None:
    """A line of progress, on standard error: standard output is for facts."""
    print(line, file=sys.stderr, flush=True)
