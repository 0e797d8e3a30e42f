"""The checks that a fork may take over: the workflow names what exists, and the hook stops a push."""

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
WORKFLOW, HOOK = ROOT / "examples/github/workflows/check.yml", ROOT / "examples/git/pre-push"
TARGETS = set(re.findall(r"^([a-z]+):.*##", (ROOT / "Makefile").read_text(), re.MULTILINE))
PINNED = re.compile(r"^[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$")


@pytest.fixture(scope="module")
def job() -> dict[str, Any]:
    content = yaml.safe_load(WORKFLOW.read_text())
    return dict(content["jobs"]["check"])


def test_actions_are_pinned_by_commit_with_their_version() -> None:
    used = re.findall(r"uses: (.+)$", WORKFLOW.read_text(), re.MULTILINE)
    assert len(used) == 4 and [one for one in used if not PINNED.match(one)] == []
    assert not PINNED.match("actions/checkout@v5")


def test_the_workflow_may_only_read() -> None:
    content = yaml.safe_load(WORKFLOW.read_text())
    assert content["permissions"] == {"contents": "read"}
    assert "pull_request_target" not in WORKFLOW.read_text() and "secrets." not in WORKFLOW.read_text()


def test_the_workflow_runs_words_of_the_makefile(job: dict[str, Any]) -> None:
    words = {word for step in job["steps"] for word in step.get("run", "").removeprefix("make ").split()}
    assert words >= {"check", "unit", "synth"} and words - TARGETS == set()


def test_the_workflow_brings_the_versions_that_the_set_up_wants(job: dict[str, Any]) -> None:
    given = {name: value for step in job["steps"] for name, value in step.get("with", {}).items() if "version" in name}
    assert given == {"python-version": "3.11", "java-version": "17", "node-version": "22"}


@pytest.fixture
def fork(tmp_path: Path) -> Path:
    """A repository with the hook, a remote to push to, and a make that writes down what it is asked for."""
    for name in ("fork", "remote", "bin"):
        (tmp_path / name).mkdir()
    git(tmp_path, "init", "--quiet", "--bare", "remote")
    git(tmp_path, "init", "--quiet", "--initial-branch=main", "fork")
    (tmp_path / "fork/.git/hooks/pre-push").write_bytes(HOOK.read_bytes())
    (tmp_path / "fork/.git/hooks/pre-push").chmod(0o755)
    git(tmp_path / "fork", "commit", "--quiet", "--allow-empty", "--message=x")
    (tmp_path / "bin/make").write_text(f'#!/bin/bash\necho "make $*" >> {tmp_path}/made\n[ ! -e {tmp_path}/broken ]\n')
    (tmp_path / "bin/make").chmod(0o755)
    return tmp_path / "fork"


def git(folder: Path, *words: str) -> int:
    names = {f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    apart = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    path = f"{folder.parent / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(["git", *words], cwd=folder, env={"PATH": path, **names, **apart}, timeout=60).returncode


def push(fork: Path, *words: str) -> bool:
    return git(fork, "push", "--quiet", "../remote", *words) == 0


def made(fork: Path) -> str:
    path = fork.parent / "made"
    return path.read_text() if path.exists() else ""


def test_the_hook_runs_the_quick_checks_before_a_push(fork: Path) -> None:
    assert push(fork, "main")
    assert made(fork) == "make check unit\n"
    assert {"check", "unit"} <= TARGETS


def test_a_broken_check_stops_the_push(fork: Path) -> None:
    (fork.parent / "broken").touch()
    assert not push(fork, "main")
    assert git(fork.parent / "remote", "rev-parse", "--quiet", "--verify", "main") != 0


def test_nothing_is_checked_when_a_branch_is_deleted(fork: Path) -> None:
    push(fork, "main", "main:old")
    before = made(fork)
    assert push(fork, "--delete", "old")
    assert made(fork) == before
