"""What a comparison of the lake with its source found, printed."""

from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.table import Table

from lake.local.parity import compare

console = Console(highlight=False)


def proof(names: list[str], timeout_s: float = 180) -> dict[str, Any]:
    """What compare() gives; its progress is shown on standard error."""
    with Console(stderr=True).status("looking at the connectors") as line:
        return compare(names, timeout_s, line.update)


def show(result: dict[str, Any]) -> None:
    """Prints the verdict, and every difference with both versions."""
    table = Table("table", "source", "cow", "rt", "ro", "deleted", "")
    for name, one in result["tables"].items():
        rows = [str(one["rows"].get(side, "-")) for side in ("source", "cow", "rt", "ro")]
        deleted = "/".join(str(count) for count in one.get("deleted", {}).values()) or "-"
        table.add_row(name, *rows, deleted, _verdict(one))
    console.print(table)
    for name, one in result["tables"].items():
        for kind in ("differences", "unsettled"):
            for difference in one[kind]:
                console.print(f"{name}: {_line(difference)}", soft_wrap=True, markup=False)
    lsns = ", ".join(sorted({one["lsn"] for one in result["tables"].values() if "lsn" in one}))
    if "result" in result:
        console.print(f"result: {result['result']}", soft_wrap=True)
    console.print(f"{'equal' if result['equal'] else 'NOT EQUAL'} at LSN {lsns or '-'}, {result['seconds']} s")


def _verdict(one: dict[str, Any]) -> str:
    if one["equal"]:
        behind = one.get("ro_behind", 0)
        return f"equal, ro behind by {behind}" if behind else "equal"
    return "[red]unsettled[/]" if not one["differences"] else "[red]different[/]"


def _line(difference: dict[str, Any]) -> str:
    key = " ".join(f"{name}={value}" for name, value in difference.get("key", {}).items())
    place = " ".join(part for part in (difference["where"], key) if part)
    if difference.get("missing_in"):
        return f"{place}: no such row in {difference['missing_in']}"
    if "detail" in difference:
        return f"{place}: {difference['detail']}"
    versions = [
        f"{column}: {' | '.join(f'{side} {value!r}' for side, value in sides.items())}"
        for column, sides in difference["columns"].items()
    ]
    return f"{place}: {'; '.join(versions)}"


def show_resync(result: dict[str, Any], say: Callable[[str], None]) -> None:
    """Tells what was swept, and prints the proof."""
    for target, count in result.get("swept", {}).items():
        say(f"{target}: {count} rows that the source no longer has are deleted")
    for message in result.get("given_up", []):
        say(f"{message}: dropped from the quarantine, its table was read again since")
    show(result["verify"])
