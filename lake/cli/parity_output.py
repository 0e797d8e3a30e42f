"""Prints the result of a comparison of the lake with its source."""

from typing import Any

from rich.text import Text

from lake.cli import options

SIDES = {"source": "the source", "cow": "the lake (cow)", "rt": "the lake (rt)"}


def show(result: dict[str, Any]) -> None:
    """Prints the verdict, and every difference with both versions."""
    columns = ["table", "source", "cow", "rt", "ro", "deleted", ""]
    options.out.print(options.table(columns, (_row(name, one) for name, one in result["tables"].items())))
    for name, one in result["tables"].items():
        for kind in ("differences", "unsettled"):
            for difference in one[kind]:
                options.out.print(f"{name}: {_line(difference)}", markup=False)
        if hidden := one.get("left_out"):
            what = f"not compared, as the definition leaves them out: {', '.join(hidden)}"
            options.out.print(f"{name}: {what}", markup=False)
    for database, left_out in result.get("left_out", {}).items():
        options.out.print(f"not compared, as the definition of {database} leaves them out: {', '.join(left_out)}")
    lsns = ", ".join(sorted({one["lsn"] for one in result["tables"].values() if "lsn" in one}))
    if "result" in result:
        options.out.print(f"result: {result['result']}")
    options.out.print(f"{'equal' if result['equal'] else 'NOT EQUAL'} at LSN {lsns or '-'}, {result['seconds']} s")


def _row(name: str, one: dict[str, Any]) -> list[str | Text]:
    rows = [str(one["rows"].get(side, "-")) for side in ("source", "cow", "rt", "ro")]
    return [name, *rows, "/".join(str(count) for count in one.get("deleted", {}).values()) or "-", _verdict(one)]


def _verdict(one: dict[str, Any]) -> Text:
    if one["equal"]:
        behind = one.get("ro_behind", 0)
        return Text(f"equal, ro behind by {behind}" if behind else "equal")
    return Text("different" if one["differences"] else "unsettled", "red")


def _line(difference: dict[str, Any]) -> str:
    key = " ".join(f"{name}={value}" for name, value in difference.get("key", {}).items())
    place = " ".join(part for part in (difference["where"], key) if part)
    if difference.get("missing_in"):
        return f"{place}: not in {SIDES[difference['missing_in']]}"
    if "detail" in difference:
        return f"{place}: {difference['detail']}"
    versions = [
        f"{column}: {' | '.join(f'{side} {value!r}' for side, value in sides.items())}"
        for column, sides in difference["columns"].items()
    ]
    return f"{place}: {'; '.join(versions)}"


def _passed(place: dict[str, Any]) -> str:
    """What of the log was passed over, and why."""
    counted = place["changes"]
    tables = ", ".join(f"{name} ({count})" for name, count in (counted or {}).items()) or "none"
    changes = "they could not be counted" if counted is None else tables
    where = f"passed over the log from {place['start']} to {place['end']}: {place['reason']}"
    return f"{where}\nchanges in it, by table: {changes}; all tables were read again"


def show_resync(result: dict[str, Any]) -> None:
    """Prints what was passed over, the deleted rows, the discarded messages, and the result of the data validation."""
    if place := result.get("passed"):
        options.out.print(_passed(place), markup=False)
    for target, count in result.get("swept", {}).items():
        options.out.print(f"{target}: {count} rows that the source no longer has are deleted")
    for message in result.get("given_up", []):
        options.out.print(f"{message}: discarded from the quarantine, because its table was re-snapshotted since")
    show(result["verify"])
