"""Which tables a connector knows: only while its task runs, and keeps running; an unread one asks for a new start."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from lake.sources.postgres import roles
from tests.charts.fake_connect import Answer, FakeConnect, secret
from tests.clocks import replace_time

TABLES = "public.artists,public.artworks"
Run = Callable[..., dict[str, str]]


def state(*states: str) -> Answer:
    return 200, {"connector": {"state": "RUNNING"}, "tasks": [{"id": 0, "state": one} for one in states]}


def tasks(tables: str) -> Answer:
    return 200, [{"id": {"connector": "c", "task": 0}, "config": {"table.include.list": tables}}]


def offsets(*found: dict[str, Any]) -> Answer:
    return 200, {"offsets": [{"partition": {}, "offset": one} for one in found]}


RUNNING = [state("RUNNING"), tasks(TABLES)]
ABSENT: Answer = (404, {"error_code": 404, "message": "No status found"})
STARTS: Answer = (202, {"tasks": [{"id": 0, "state": "RESTARTING"}]})
STREAMS = offsets({"lsn": 1})


@pytest.fixture
def run(captured_tables: ModuleType, connect: FakeConnect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """What the program writes while Connect gives these answers; all of them must be asked for."""
    replace_time(monkeypatch, captured_tables, sleep=lambda seconds: None)

    def run(*answers: Answer, unread: str = "", renewed: bool = False) -> dict[str, str]:
        connect.planned = list(answers)
        if renewed:
            (tmp_path / f"changed.{roles.CAPTURE}").touch()
        (tmp_path / "unread").mkdir()
        (tmp_path / "unread" / "moma").write_text(f"{unread}\n")
        assert (
            captured_tables.main([connect.url, str(tmp_path), str(secret(tmp_path)), "0", "moma=source_postgres_moma"])
            == 0
        )
        assert connect.planned == [] and connect.calls == []
        return {path.name: path.read_text() for path in (tmp_path / "captured").iterdir()}

    return run


def test_a_running_connector_s_tables_are_written(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(*RUNNING, *RUNNING) == {"moma": TABLES}
    assert capsys.readouterr().out == f"source_postgres_moma: reads {TABLES}\n"


@pytest.mark.parametrize(
    "answers",
    [
        [ABSENT],
        [state(), state()],
        [state("FAILED"), state("FAILED")],
        [*RUNNING, state("UNASSIGNED")],
        [*RUNNING, state("RUNNING"), tasks("public.artists")],
        [(200, "nonsense")],
        [(200, {"tasks": [None]})],
    ],
)
def test_a_connector_that_does_not_run_or_is_being_replaced_is_not_asked(run: Run, answers: list[Answer]) -> None:
    assert run(*answers) == {}


def test_a_connector_that_reads_an_unread_table_starts_again_first(run: Run) -> None:
    again = [STARTS, state("RESTARTING"), *RUNNING]
    assert run(*RUNNING, STREAMS, *again, *RUNNING, unread="public.artworks") == {"moma": TABLES}


def test_a_table_that_the_connector_does_not_read_yet_is_no_reason_to_start_again(run: Run) -> None:
    assert run(*RUNNING, *RUNNING, unread="public.exhibitions") == {"moma": TABLES}


@pytest.mark.parametrize("answer", [offsets(), offsets({"lsn": 1, "snapshot": "INITIAL"})])
def test_a_first_snapshot_is_never_broken_off(run: Run, answer: Answer) -> None:
    assert run(*RUNNING, answer, unread="public.artists") == {}


def test_a_connector_with_a_new_password_starts_again(run: Run) -> None:
    again = [STARTS, state("RESTARTING"), *RUNNING]
    assert run(*RUNNING, STREAMS, *again, *RUNNING, renewed=True) == {"moma": TABLES}


def test_a_connector_that_failed_by_its_old_password_starts_again(run: Run) -> None:
    assert run(state("FAILED"), STARTS, state("RESTARTING"), *RUNNING, *RUNNING, renewed=True) == {}


def test_before_the_first_deployment_is_done_nothing_answers(captured_tables: ModuleType, tmp_path: Path) -> None:
    assert (
        captured_tables.main(
            ["http://127.0.0.1:1", str(tmp_path), str(secret(tmp_path)), "0", "moma=source_postgres_moma"]
        )
        == 0
    )
    assert list((tmp_path / "captured").iterdir()) == []
