"""CONTRIBUTING.md names files, make targets and set-up commands that exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text()
QUOTED = sorted(set(re.findall(r"`([^`\n]+)`", PAGE)))
MADE = (".venv/", "build/", "node_modules/")  # by make setup
PATHS = [word for word in QUOTED if re.fullmatch(r"[\w.-]+(/[\w.-]+)*/?", word) and re.search(r"[./]", word)]
TARGETS = set(re.findall(r"^([a-z]+):.*##", (ROOT / "Makefile").read_text(), re.MULTILINE))
TASKS = ("a type", "a table", "an engine", "a connector", "a stack", "an alarm", "a command")


def missing(path: str) -> bool:
    return path not in MADE and not (ROOT / path).exists()


def test_the_check_finds_what_is_missing() -> None:
    assert missing("lake/nowhere.py") and not missing("lake/cli/main.py")
    assert "lake/cli/main.py" in PATHS and "CHANGELOG.md" in PATHS and "databases/" in PATHS


@pytest.mark.parametrize("path", PATHS)
def test_every_named_path_exists(path: str) -> None:
    assert not missing(path)


def test_every_make_target_exists() -> None:
    named = {word for quoted in QUOTED for word in re.findall(r"\bmake ([a-z]+)", quoted)}
    assert named >= {"setup", "check", "unit", "test", "bench"}
    assert named <= TARGETS


def test_every_test_file_in_a_command_exists() -> None:
    named = {word for quoted in QUOTED if " " in quoted for word in re.findall(r"tests/[\w/]+\.py", quoted)}
    assert named and [path for path in named if missing(path)] == []


@pytest.mark.parametrize("task", TASKS)
def test_every_task_names_the_files_to_touch(task: str) -> None:
    (section,) = re.findall(rf"^### {task}\n(.+?)(?=^### |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    steps = re.findall(r"^\d\. `([^`]+)`", section, re.MULTILINE)
    assert steps and set(steps) <= set(PATHS)
