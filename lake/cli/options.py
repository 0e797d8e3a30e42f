"""What many commands share: their options, and how they tell of progress."""

import sys

import typer
from rich.console import Console

ENV = typer.Option("local", "--env", "-e", help="The file environments/<name>.yaml.")
JSON = typer.Option(False, "--json", help="Print facts for machines.")
RESYNC_TIMEOUT = typer.Option(3600, "--timeout", min=1, help="Seconds for each of: reading, catching up, sweeping.")
YES = typer.Option(False, "--yes", help="Do not ask: for scripts.")
console = Console(highlight=False)
aside = Console(stderr=True, highlight=False)


def say(line: str) -> None:
    """A line of progress, on standard error: standard output is for facts."""
    print(line, file=sys.stderr, flush=True)
