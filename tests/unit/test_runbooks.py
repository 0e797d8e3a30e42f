"""Every command in a runbook is one that there is."""

from pathlib import Path
from typing import Any

import pytest
import typer

from lake.cli.main import app
from lake.config.environment import PROJECT
from tests.runbooks import FOLDER, WALKS, Block, as_told, blocks, inline, pages, split

TOOLS = {"aws", "cp", "git", "grep", "kubectl", "lake", "make", "npx", "printf", "psql", "python3", "sed", "sleep"}
OF_WALKS = {"date", "export"}
ALL = [*pages(), *pages(WALKS)]
MAKE = (PROJECT / "Makefile").read_text(encoding="utf-8")
USAGE_ERROR = typer.BadParameter.__mro__[1]  # of the click that typer brings


def parsed(words: list[str]) -> Any:
    """The command that the words of a `lake ...` name; USAGE_ERROR where a command or an option does not exist."""
    command, rest = typer.main.get_command(app), words
    while rest and hasattr(command, "commands"):
        if rest[0] not in command.commands:
            raise USAGE_ERROR(f"no command {rest[0]}")
        command, rest = command.commands[rest[0]], rest[1:]
    if not hasattr(command, "commands"):
        command.make_context("lake", list(rest))
    return command


def commands(page: Path) -> list[list[str]]:
    return [words for block in blocks(page) for words in block.commands]


def test_there_is_a_page_for_each_upgrade_and_each_accident() -> None:
    assert [path.stem for path in pages()] == sorted(
        [
            "bad-deploy",
            "bronze-replay",
            "connector-upgrade",
            "emr-release",
            "key-rotation",
            "large-row",
            "lost-slot",
            "lost-topic",
            "new-table",
            "resnapshot",
            "schema-change",
            "slow-job",
        ]
    )
    index = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert [path.name for path in pages() if f"({path.name})" not in index] == []


@pytest.mark.parametrize("page", ALL, ids=lambda path: path.stem)
def test_every_lake_command_exists_with_its_options(page: Path) -> None:
    found = [words for words in [*commands(page), *inline(page)] if words[0] == "lake"]
    assert found
    for words in found:
        parsed(words[1:])


@pytest.mark.parametrize("page", ALL, ids=lambda path: path.stem)
def test_every_other_command_is_known(page: Path) -> None:
    for words in commands(page):
        assert words[0] in TOOLS | OF_WALKS, words
        assert words[0] != "make" or f"\n{words[1]}:" in MAKE, words
        assert words[:2] != ["npx", "cdk"] or "-c" in words, f"{words}: of which environment?"


@pytest.mark.parametrize("page", pages(), ids=lambda path: path.stem)
def test_a_page_says_when_what_and_when_it_is_done(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert "\n**When**: " in text and "\n## Done when\n" in text
    assert len(text.splitlines()) <= 70


@pytest.mark.parametrize("words", ["stauts", "status --evn dev", "jobs submit", "connectors plan --check=x"])
def test_a_command_that_is_not_there_would_be_found(words: str) -> None:
    with pytest.raises(USAGE_ERROR):
        parsed(words.split())


def test_a_line_is_split_where_a_shell_would() -> None:
    assert list(split("until lake a; do sleep 2; done")) == ["until lake a", " ", " sleep 2", " done"]
    assert list(split("psql \"$S\" -c 'a; b' | lake c")) == ["psql \"$S\" -c 'a; b' ", " lake c"]


def test_an_output_is_compared_but_for_what_differs_each_time() -> None:
    block = Block("page", True, "lake status", "equal at LSN ..., 2 rows\n")
    assert as_told(block, "equal at LSN 0/1A2B, 2  rows\n")
    assert not as_told(block, "equal at LSN 0/1A2B, 3 rows\n")
    assert as_told(Block("page", True, "lake status"), "anything")


@pytest.mark.parametrize("page", pages(WALKS), ids=lambda path: path.stem)
def test_a_walk_shows_what_its_blocks_print(page: Path) -> None:
    assert [block.text for block in blocks(page) if block.here and block.output]


@pytest.mark.parametrize("page", pages(WALKS), ids=lambda path: path.stem)
def test_a_walk_ends_with_the_same_steps_on_aws(page: Path) -> None:
    last = blocks(page)[-1]
    assert not last.here
    lake = [words for words in last.commands if words[0] == "lake"]
    assert lake and all(words[-2:] == ["--env", "E"] for words in lake)
