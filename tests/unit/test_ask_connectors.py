"""The script that asks MSK Connect which tables it reads, against an AWS CLI of the test's own."""

import os
import subprocess
from pathlib import Path

import pytest

from lake.config.environment import PROJECT
from tests.clocks import HANG_S

SCRIPT = PROJECT / "constructs/lake_constructs/scripts/ask_connectors.sh"
TABLES = "public.artists,public.artworks"
# Answers by the query; what it is asked to do goes to a file.
AWS = """#!/usr/bin/env bash
echo "$4" >> calls # after kafkaconnect --region REGION
case "$*" in
  *list-connectors*) echo "$ARN" ;;
  *table.include.list*) echo "public.artists,public.artworks" ;;
  *restart-connector*) echo arn:operation ;;
  *connectorOperationState*) echo "$OPERATION" ;;
  *connectorState*) echo "$STATE" ;;
esac
"""


def run(folder: Path, **changes: str) -> tuple[list[str], str]:
    """The calls, and the tables that the script found; "" without any."""
    (folder / "aws").write_text(AWS)
    (folder / "aws").chmod(0o755)
    answers = {"ARN": "arn:connector", "OPERATION": "RESTART_COMPLETE", "STATE": "RUNNING", "PATIENCE": "1", **changes}
    done = subprocess.run(
        ["bash", str(SCRIPT), "eu-central-1", "moma=lake-dev-source_postgres_moma"],
        cwd=folder,
        env={"PATH": f"{folder}:{os.environ['PATH']}", **answers},
        capture_output=True,
        text=True,
        timeout=HANG_S,
    )
    assert done.returncode == 0, done.stderr
    found = folder / "captured/moma"
    return (folder / "calls").read_text().split(), found.read_text() if found.exists() else ""


def unread(folder: Path, tables: str) -> Path:
    (folder / "unread").mkdir()
    (folder / "unread/moma").write_text(f"{tables}\n")
    return folder


def test_a_running_connector_is_asked_and_left_alone(tmp_path: Path) -> None:
    calls, found = run(tmp_path)
    assert found == TABLES and "restart-connector" not in calls


def test_a_connector_is_restarted_for_a_table_that_it_has_not_learned(tmp_path: Path) -> None:
    calls, found = run(unread(tmp_path, "public.more,public.artworks"))
    assert found == TABLES and calls.count("restart-connector") == 1


@pytest.mark.parametrize("tables", ["public.more", "", "public.art"])
def test_it_is_not_for_a_table_that_it_does_not_read(tables: str, tmp_path: Path) -> None:
    calls, found = run(unread(tmp_path, tables))
    assert found == TABLES and "restart-connector" not in calls


def test_it_is_restarted_after_a_new_password(tmp_path: Path) -> None:
    (tmp_path / "changed.lake_capture").touch()
    calls, found = run(tmp_path)
    assert found == TABLES and "restart-connector" in calls


@pytest.mark.parametrize("changes", [{"ARN": "None"}, {"STATE": "FAILED"}, {"ARN": ""}])
def test_nothing_is_known_of_a_connector_that_does_not_run(changes: dict[str, str], tmp_path: Path) -> None:
    assert run(tmp_path, **changes)[1] == ""


def test_a_restart_that_fails_is_tried_by_the_next_run(tmp_path: Path) -> None:
    assert run(unread(tmp_path, "public.artworks"), OPERATION="RESTART_FAILED")[1] == ""
