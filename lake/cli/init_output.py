"""What `lake init` shows of a server, and how a person chooses tables from it."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer

from lake.cli import options
from lake.config.errors import BadInput
from lake.config.patterns import meets
from lake.discovery.candidates import Candidate, Found, explained
from lake.discovery.measures import size
from lake.sources.postgres.survey import FoundDatabase

CHOICE = "Which tables? all, numbers (1-3,5), or patterns (sales.*)"


def databases(found: Sequence[FoundDatabase], as_json: bool) -> None:
    if as_json:
        return options.print_json([asdict(one) for one in found])
    options.out.print(options.table(["database", "size"], [(one.name, size(one.bytes)) for one in found]))
    return print("Choose one: lake init NAME, or the DSN with its name")


def facts(found: Found, chosen: Sequence[Candidate]) -> dict[str, Any]:
    """The same for programs."""
    return {
        "database": found.database,
        "server": {**asdict(found.survey), "relations": len(found.candidates)},
        "reasons": [asdict(one) for one in found.reasons],
        "tables": [_facts(one, one in chosen) for one in found.candidates],
    }


def _facts(one: Candidate, is_chosen: bool) -> dict[str, Any]:
    reasons = [asdict(reason) for reason in one.reasons]
    return {
        "table": one.full_name,
        **asdict(one.relation),
        "settings": one.settings,
        "reasons": reasons,
        "chosen": is_chosen,
    }


def show(found: Found, chosen: Sequence[Candidate]) -> None:
    """The tables that are chosen; below them those that are not, each with its reasons."""
    survey = found.survey
    print(f"{found.database}: PostgreSQL {survey.version}, {survey.encoding}, {len(found.candidates)} relations")
    for reason in found.reasons:
        print(f"not ready: {reason.what}; {reason.now}")
    if chosen:
        options.out.print(_tables(chosen))
    left = [one for one in found.candidates if one not in chosen]
    if left:
        print(f"Left out ({len(left)}):")
    for one in left:
        print(f"  {one.full_name}: {explained(one.reasons) or 'not chosen'}")


def _tables(listed: Sequence[Candidate]) -> Any:
    rows = (
        (
            str(number),
            one.full_name,
            "?" if one.relation.rows is None else f"{one.relation.rows:,}",
            size(one.relation.bytes),
            ", ".join(one.settings["key"]),
        )
        for number, one in enumerate(listed, 1)
    )
    return options.table(["", "table", "rows", "size", "key"], rows)


def show_result(found: Found, chosen: Sequence[Candidate], path: Path, as_json: bool) -> None:
    """After the file is written."""
    if as_json:
        return options.print_json({**facts(found, chosen), "file": str(path)})
    show(found, chosen)
    return print(f"{path}: {len(chosen)} tables. See: lake plan; then: lake apply")


def choose(found: Found, listed: Sequence[Candidate]) -> list[Candidate]:
    """Asks until the answer means tables."""
    show(found, listed)
    while True:
        answer = str(typer.prompt(CHOICE, default="all", err=True))
        try:
            return chosen_by(answer, listed)
        except BadInput as problem:
            options.say(problem.what)


def chosen_by(answer: str, listed: Sequence[Candidate]) -> list[Candidate]:
    """The tables that an answer means; BadInput if one of its parts means none."""
    if answer.strip() in ("all", ""):
        return list(listed)
    parts = [part.strip() for part in answer.split(",") if part.strip()]
    numbers = {number for part in parts for number in _numbered(part, listed)}
    return [one for number, one in enumerate(listed, 1) if number in numbers]


def _numbered(part: str, listed: Sequence[Candidate]) -> set[int]:
    first, dash, last = part.partition("-")
    if first.isdecimal() and (last.isdecimal() or not dash):
        found = set(range(int(first), int(last or first) + 1)) & set(range(1, len(listed) + 1))
    else:
        found = {number for number, one in enumerate(listed, 1) if meets(part, one.full_name)}
    if not found:
        raise BadInput(f"{part} means no table", "the answer", "choose again")
    return found
