"""Helpers of all commands: options, two consoles, JSON, tables and progress."""

import json
import os
import sys
import threading
import time
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
SILENT_S, LOOK_EVERY_S = 4.0, 0.2
PIPED = 100_000  # characters in a line
ENV = typer.Option("local", "--env", "-e", help="The file environments/<name>.yaml.")
JSON = typer.Option(False, "--json", help="Print the result as JSON.")
YES = typer.Option(False, "--yes", help="Do not ask for confirmation.")
CHECK = typer.Option(False, "--check", help=f"Exit with {DIFFERENT} if there are differences.")
TABLES = typer.Argument(None, metavar="[DATABASE[.[SCHEMA.]TABLE]]...", help="Tables or databases; default all.")
STREAM_TIMEOUT = typer.Option(300, "--timeout", min=1, help="Seconds to wait for the streaming job.")
VERIFY_TIMEOUT = typer.Option(
    180, "--timeout", min=1, help="Seconds for all tables to catch up, and then for rows to stop changing."
)
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
    """Shows the progress of a command on standard error: the last line on a terminal, otherwise each new line,
    and what goes on at least every five seconds.
    """
    if err.is_terminal:
        with err.status(begin) as line:
            yield lambda text: line.update(escape(text))
    else:
        with lines(begin) as report:
            yield report


@contextmanager
def lines(begin: str) -> Iterator[Report]:
    """The same in lines that stay, also on a terminal. Not around a question: the user may think for a while."""
    with _Lines(begin) as spoken:
        yield spoken.report


class _Lines:
    """Says each new line, and what still goes on when there was none for some seconds: a pipe shows no spinner."""

    def __init__(self, begin: str) -> None:
        self._line, self._began = begin, time.monotonic()
        self._said_at = self._began
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._go_on, daemon=True)

    def __enter__(self) -> "_Lines":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def report(self, line: str) -> None:
        if line != self._line:
            self._say(line)
        self._line = line

    def _say(self, line: str) -> None:
        self._said_at = time.monotonic()
        say(line)

    def _go_on(self) -> None:
        while not self._over.wait(LOOK_EVERY_S):
            if time.monotonic() - self._said_at >= SILENT_S:
                self._say(f"{self._line} ({time.monotonic() - self._began:.0f} s)")
