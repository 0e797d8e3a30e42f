"""What commands print on a narrow terminal and in a pipe: no name, address or reason is cut."""

import json
import os
import subprocess
import sys
from io import StringIO
from typing import Any

import pytest
from rich.console import RenderableType

from lake.cli import cost, options, parity_output, sql
from lake.cli.listing import Cell, Listing
from lake.cli.quarantine import messages_table
from lake.cli.status import overview
from lake.clients.table_status import SourceStatus, TableStatus
from lake.deployments.deployment import Status
from lake.sources.drift import Drift

FIRST, SECOND = f"pagila.public.{'film_' * 10}actor", f"pagila.public.{'film_' * 10}category"
REASON = "the claim of this job was renewed too late, because the machine is busy: it ends, and starts again by itself"
DSN = "postgresql://lake_admin:0123456789abcdef0123456789abcdef@127.0.0.1:36000/postgres?sslmode=disable"
EQUAL = {"equal": True, "rows": {"source": 5462, "cow": 5462, "rt": 5462, "ro": 5460}, "deleted": {"cow": 1, "rt": 1}}
NOTHING: dict[str, Any] = {"differences": [], "unsettled": []}


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> StringIO:
    """What is printed on a terminal of 80 columns."""
    printed = StringIO()
    monkeypatch.setattr(options, "out", options.WholeLines(file=printed, width=80, highlight=False))
    return printed


def lines(printed: StringIO, what: RenderableType) -> list[str]:
    options.out.print(what)
    return printed.getvalue().splitlines()


def piped(columns: list[str], rows: list[list[str]], **variables: str) -> list[str]:
    program = "import json, sys; from lake.cli import options; options.out.print(options.table(*json.load(sys.stdin)))"
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"} | variables
    command = [sys.executable, "-c", program]
    given = json.dumps([columns, rows])
    done = subprocess.run(command, env=environment, input=given, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_a_row_is_one_line_in_a_pipe() -> None:
    assert piped(["table", "dsn", ""], [[FIRST, DSN, REASON * 5]]) == [
        f"table{' ' * (len(FIRST) - 5)}  dsn",
        f"{FIRST}  {DSN}  {REASON * 5}",
    ]


def test_columns_says_how_wide_a_line_is() -> None:
    shown = piped(["table", ""], [["film", REASON]], COLUMNS="80")
    assert shown[:2] == ["table", "film"]
    assert " ".join(line.strip() for line in shown[2:]) == REASON
    assert max(map(len, shown)) <= 80


def test_what_fits_is_a_table_with_numbers_to_the_right(narrow: StringIO) -> None:
    found = lines(narrow, Listing(["table", "rows", "state"], [["a", "7", "equal"], ["bc", "1,000.5", "equal"]]))
    assert found == ["table     rows  state", "a            7  equal", "bc     1,000.5  equal"]


def test_a_column_without_a_value_is_left_out(narrow: StringIO) -> None:
    assert lines(narrow, Listing(["table", "lag", ""], [["a", "", ""], ["b", "", ""]])) == ["table", "a", "b"]


def test_a_wide_row_becomes_a_list(narrow: StringIO) -> None:
    rows: list[list[Cell]] = [[FIRST, "12", "1.5 s", REASON], [SECOND, "", "2.5 s", ""]]
    found = lines(narrow, Listing(["table", "rows", "lag", ""], rows))
    assert found[:2] == [FIRST, "    rows: 12; lag: 1.5 s"]
    assert found[-2:] == [SECOND, "    lag: 2.5 s"]
    assert " ".join(line.strip() for line in found[2:-2]) == REASON


def test_a_word_that_is_longer_than_a_line_stays_whole(narrow: StringIO) -> None:
    assert any(DSN in line for line in lines(narrow, Listing(["", ""], [["postgres.dsn", DSN], ["s3", "here"]])))


def test_wide_letters_take_two_columns(narrow: StringIO) -> None:
    assert lines(narrow, Listing(["table", "state"], [["日本", "a"], ["x", "b"]]))[1:] == ["日本   a", "x      b"]


def test_markup_is_taken_literally(narrow: StringIO) -> None:
    assert lines(narrow, Listing(["table", ""], [["[bold]", "[/red]"]]))[1] == "[bold]  [/red]"


STATUS = {
    "sources": [SourceStatus("shop", "RUNNING", ["RUNNING", "FAILED"], "active, reserved", 1, REASON)],
    "tables": [TableStatus(name, "failed", 1, None, None, None, None, REASON, 2) for name in (FIRST, SECOND)],
    "drifts": [Drift("shop", FIRST, f"{FIRST} was dropped", f"lake recover shop {SECOND}")],
}


@pytest.mark.parametrize("kind", STATUS)
def test_status_names_each_table_and_reason_whole(kind: str, narrow: StringIO) -> None:
    found = lines(narrow, overview(Status(False, {kind: STATUS[kind]})))
    assert max(map(len, found)) <= 80
    text = " ".join(line.strip() for line in found)
    assert all(word in text for word in ([REASON] if kind != "drifts" else [FIRST, SECOND]))


def test_the_proof_names_both_tables_whole(narrow: StringIO) -> None:
    tables = {name: {**EQUAL, **NOTHING, "lsn": "0/1"} for name in (FIRST, SECOND)}
    parity_output.show({"equal": True, "tables": tables, "seconds": 1})
    found = narrow.getvalue().splitlines()
    assert {FIRST, SECOND} <= set(found)
    assert "    source: 5462; cow: 5462; rt: 5462; ro: 5460; deleted: 1/1" in found


@pytest.mark.parametrize(
    ("side", "told"),
    [("source", "not in the source"), ("cow", "not in the lake (cow)"), ("rt", "not in the lake (rt)")],
)
def test_a_row_that_one_side_lacks(side: str, told: str, narrow: StringIO) -> None:
    """K5, 31."""
    one = {"where": "source = cow", "key": {"film_id": "100", "category_id": "8"}, "missing_in": side, "columns": {}}
    result = {"equal": False, "rows": {}, "differences": [one], "unsettled": []}
    parity_output.show({"equal": False, "tables": {FIRST: result}, "seconds": 1})
    assert f"{FIRST}: source = cow film_id=100 category_id=8: {told}" in narrow.getvalue().splitlines()


def test_the_reason_of_a_message_in_quarantine_is_whole(narrow: StringIO) -> None:
    message = {"id": f"{FIRST}/0/0/1", "set_aside_at": "2026-11-30 10:00:00", "bytes": 1, "state": "waiting"}
    found = lines(narrow, messages_table([{**message, "reason": REASON, "settled_by": None}]))
    assert f"{FIRST}/0/0/1" in found
    assert REASON in " ".join(line.strip() for line in found)


def test_a_query_with_many_columns_has_a_line_for_each_value(narrow: StringIO) -> None:
    columns = [f"column_{number}" for number in range(30)]
    sql._print({"columns": columns, "rows": [[*range(29), DSN]], "more": False})
    found = narrow.getvalue().splitlines()
    assert found[:2] == ["row 1", "  column_0   0"]
    assert found[30:] == [f"  column_29  {DSN}", "1 rows"]


def test_the_costs_end_with_their_sum(narrow: StringIO) -> None:
    cost.show([cost.Item("a broker", 2, 100.0)], cost.load_prices())
    assert narrow.getvalue().splitlines()[:3] == [
        "what      count    each  USD a month",
        "a broker      2  100.00       200.00",
        "sum                              200",
    ]
