"""Every command has its help, its example, its facts for machines, and its line in docs/cli.md."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from lake.cli.main import app
from lake.config.environment import PROJECT

DOCS = (PROJECT / "docs/cli.md").read_text(encoding="utf-8")
# They do something and say so in a line or a log: no facts.
WITHOUT_FACTS = {
    "compact",
    "connectors pause",
    "connectors restart",
    "connectors resume",
    "demo",
    "down",
    "jobs logs",
    "load moma",
    "load northwind",
    "load pagila",
    "load tickit",
    "logs",
    "restart",
    "up",
}


def commands(group: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """All commands by their words."""
    for name, command in group.commands.items():
        words = f"{path} {name}".strip()
        if hasattr(command, "commands"):
            yield from commands(command, words)
        else:
            yield words, command


ALL = dict(commands(typer.main.get_command(app)))


def row(words: str) -> str:
    """The line of the command in the tables."""
    found = [line for line in DOCS.splitlines() if line.startswith(f"| `lake {words}` |")]
    assert len(found) == 1, f"lake {words}: {len(found)} lines in docs/cli.md"
    return found[0]


@pytest.mark.parametrize("words", ALL)
def test_help_shows_an_example(words: str) -> None:
    text = ALL[words].help or ""
    assert re.search(r"Example: .*lake ", text), text


@pytest.mark.parametrize("words", ALL)
def test_facts_are_there_for_machines_and_the_docs_say_so(words: str) -> None:
    options = {name for parameter in ALL[words].params for name in parameter.opts}
    assert ("--json" in options) == (words not in WITHOUT_FACTS)
    cells = [cell.strip() for cell in row(words).split("|")[1:-1]]
    assert (cells[2] == "yes") == ("--json" in options)


@pytest.mark.parametrize("words", ALL)
def test_the_docs_say_which_environments_a_command_knows(words: str) -> None:
    options = {name for parameter in ALL[words].params for name in parameter.opts}
    cells = [cell.strip() for cell in row(words).split("|")[1:-1]]
    assert (cells[-1] in ("any", "AWS")) == ("--env" in options and words not in ("plan", "apply"))


def test_the_docs_name_no_command_that_is_not_there() -> None:
    assert set(re.findall(r"^\| `lake ([a-z ]+)` \|", DOCS, re.MULTILINE)) == set(ALL)


def test_the_exit_codes_are_documented() -> None:
    assert {int(code) for code in re.findall(r"^\| (\d+) \|", DOCS, re.MULTILINE)} == {0, 1, 2, 3, 130}
