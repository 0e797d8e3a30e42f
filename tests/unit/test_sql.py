"""What `lake sql` prints is what the lake holds."""

import io
import json
from collections.abc import Sequence
from typing import Any

import pytest
from typer.testing import CliRunner

from lake.cli import options, sql
from lake.cli.main import app
from lake.config.errors import BadInput

KHABIAS = "Khabias [pseudonym Of Nina Komarova]"
TWICE = {"columns": ["x", "x"], "types": ["int", "string"], "rows": [[1, "two"]], "more": False}


def content(columns: list[str], *rows: list[Any]) -> dict[str, Any]:
    return {"columns": columns, "types": ["string"] * len(columns), "rows": list(rows), "more": False}


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The arguments that the job gets; it answers TWICE."""
    asked: list[list[str]] = []

    def run_job(home: object, name: str, args: Sequence[str]) -> dict[str, Any]:
        asked.append(list(args))
        return TWICE

    monkeypatch.setattr(sql, "run_job", run_job)
    monkeypatch.setattr(sql, "load_environment", lambda: None)
    return asked


def printed(found: dict[str, Any], monkeypatch: pytest.MonkeyPatch, width: int = 120) -> str:
    out = io.StringIO()
    monkeypatch.setattr(options, "out", options.WholeLines(file=out, width=width, highlight=False))
    monkeypatch.setattr(sql, "run_job", lambda *_: found)
    monkeypatch.setattr(sql, "load_environment", lambda: None)
    CliRunner().invoke(app, ["sql", "select 1"])
    return out.getvalue()


def test_brackets_are_no_markup(monkeypatch: pytest.MonkeyPatch) -> None:
    out = printed(content(["[red]name[/]"], [KHABIAS], ["[/b]"], [None], [":smile: é"], [["é"]]), monkeypatch)
    for text in ("[red]name[/]", KHABIAS, "[/b]", "null", ":smile: é", '["é"]', "5 rows"):
        assert text in out


def test_a_long_value_is_not_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    value = "".join(str(number) for number in range(100))
    out = printed(content(["a", "b"], [value, value]), monkeypatch, width=40)
    assert out.count(value) == 2


def test_both_columns_of_a_name_are_in_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    out = printed(TWICE, monkeypatch)
    assert out.count("x") == 2
    assert "1" in out and "two" in out


def test_rows_as_json_go_by_the_names_of_columns() -> None:
    assert sql.objects(content(["a", "b"], ["1", None])) == [{"a": "1", "b": None}]


def test_two_columns_of_a_name_are_refused_as_json(given: list[list[str]]) -> None:
    answer = CliRunner().invoke(app, ["sql", "select 1 x, 'two' x", "--json"])
    assert isinstance(answer.exception, BadInput)
    assert "two columns are named x; lake sql --json; give them different names with AS" in str(answer.exception)
    assert answer.stdout == ""


def test_an_empty_moment_reaches_the_job(given: list[list[str]]) -> None:
    CliRunner().invoke(app, ["sql", "select 1", "--as-of", ""])
    assert given == [["--sql", "select 1", "--limit", "1000", "--as-of", ""]]


def test_a_window_reaches_the_job(given: list[list[str]]) -> None:
    CliRunner().invoke(app, ["sql", "select 1", "--since", "0/65", "--until", "0/C9", "--limit", "7"])
    assert given == [["--sql", "select 1", "--limit", "7", "--since", "0/65", "--until", "0/C9"]]


@pytest.mark.parametrize(
    ("mixture", "problem"),
    [
        (["--as-of", "0/65", "--since", "0/65"], "--as-of and --since exclude each other"),
        (["--until", "0/C9"], "--until needs --since"),
    ],
)
def test_moments_that_mean_nothing_together_reach_no_job(
    mixture: list[str], problem: str, given: list[list[str]]
) -> None:
    refused = CliRunner().invoke(app, ["sql", "select 1", *mixture]).exception
    assert isinstance(refused, BadInput) and problem in str(refused)
    assert given == []


def test_json_is_one_object(given: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql, "run_job", lambda *_: content(["a"], ["10.50"]))
    answer = CliRunner().invoke(app, ["sql", "select 10.50 a", "--json"])
    assert json.loads(answer.stdout) == content(["a"]) | {"rows": [{"a": "10.50"}]}


def test_help_teaches_what_changed_and_what_a_moment_is() -> None:
    text = " ".join((sql.sql.__doc__ or "").split())
    for words in ("--since 0/1A2B3C4 --until", "each changed row once", "An instant belongs to one table"):
        assert words in text
    assert "A time is the time of the lake's commit" in text
