"""Helpers of all commands: options, two consoles, JSON, tables and progress."""

import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.text import Text

from lake.cli.listing import Cell, Listing
from lake.config.report import Report

DIFFERENT = 3  # the exit code of --check
PIPED = 100_000  # characters in a line
ENV = typer.Option("local", "--env", "-e", help="The file environments/<name>.yaml.")
JSON = typer.Option(False, "--json", help="Print the result as JSON.")
YES = typer.Option(False, "--yes", help="Do not ask for confirmation.")
CHECK = typer.Option(False, "--check", help=f"Exit with {DIFFERENT} if there are differences.")
TABLES = typer.Argument(None, metavar="[DATABASE[.[SCHEMA.]TABLE]]...", help="Tables or databases; default all.")
STREAM_TIMEOUT = typer.Option(300, "--timeout", min=1, help="Seconds to wait for the streaming job.")
VERIFY_TIMEOUT = typer.Option(180, "--timeout", min=1, help="Seconds to catch up, and then for rows to stop changing.")
RESYNC_TIMEOUT = typer.Option(3600, "--timeout", min=1, help="Seconds for each step: reading, catching up, deleting.")


class WholeLines(Console):
    """Prints lines as they are: rich would cut words that are longer than a line, or break lines within a name."""

    def print(self, *objects: Any, **how: Any) -> None:
        super().print(*objects, **{"soft_wrap": True, **how})


# No terminal, no end of a line: who pipes a table looks for whole rows. rich takes 80 columns there.
out = WholeLines(highlight=False, width=None if sys.stdout.isatty() or "COLUMNS" in os.environ else PIPED)
err = Console(stderr=True, highlight=False)


def print_json(facts: Any) -> None:
    """Prints JSON on standard output."""
    print(json.dumps(facts, indent=2))


def table(columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> Listing:
    """Rows under named columns, for `out`. A last column without a name holds notes."""
    return Listing(columns, rows)


def coloured(text: str, good: bool) -> Text:
    return Text(text, "green" if good else "red")


def say(line: str) -> None:
    """Prints a line of progress on standard error: standard output is for results."""
    print(line, file=sys.stderr, flush=True)


def say_step(service: str, what: str, seconds: float) -> None:
    """A step of a service that is started or stopped, on standard output."""
    out.print(f"[dim]{seconds:5.1f} s[/]  [bold]{service:<10}[/] {escape(what)}")


def confirm(question: str, yes: bool) -> bool:
    """True if the user confirms, on standard error, or has given --yes."""
    return yes or typer.confirm(question, err=True)


@contextmanager
def progress(begin: str) -> Iterator[Report]:
    """Shows the progress of a command on standard error: the last line on a terminal, otherwise each new line."""
    if not err.is_terminal:
        yield _each_new_line()
        return
    with err.status(begin) as line:
        yield lambda text: line.update(escape(text))


def _each_new_line() -> Report:
    last = [""]

    def report(line: str) -> None:
        if line != last[0]:
            say(line)
        last[0] = line

    return report
