"""What became of one random database: equal, refused for a known reason, told, or wrong."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

# What may be left out, by the shape of the table, and how the reason reads.
REASONS = {
    "view": "view|not a table",
    "materialized view": "view|not a table",
    "foreign": "foreign|not a table",
    "unlogged": "unlogged",
    "row-level security": "row-level security",
    "deferrable": "deferr",
    "keyless": "key|identity",
    "keyless root": "key|identity|partition",
    "parent": "inherit|child",
    "composite type": "type",
    "shadowed type": "types that bear the name",
}


@dataclass(frozen=True)
class Outcome:
    """What was seen of a database when its changes had ended.

    shapes: of every relation. left_out: relations that were not captured, with the reason. harmed: what PostgreSQL
    refused to the application. verify: the result for each captured table. told: what `lake status` says of a table;
    of all tables of the database under "".
    """

    shapes: Mapping[str, str]
    left_out: Mapping[str, str] = field(default_factory=dict)
    harmed: tuple[str, ...] = ()
    verify: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    told: Mapping[str, str] = field(default_factory=dict)

    @property
    def different(self) -> list[str]:
        return [table for table, found in self.verify.items() if not found["equal"]]


@dataclass(frozen=True)
class Verdict:
    """kind: equal, refused, told or wrong. faults: why it is wrong."""

    kind: str
    faults: tuple[str, ...] = ()


def judge(outcome: Outcome) -> Verdict:
    faults = (*_harm(outcome), *_refusals(outcome), *_silence(outcome))
    kind = "wrong" if faults else "told" if outcome.different else "equal" if outcome.verify else "refused"
    return Verdict(kind, faults)


def _harm(outcome: Outcome) -> Iterator[str]:
    yield from (f"the application was refused: {one}" for one in outcome.harmed)


def _refusals(outcome: Outcome) -> Iterator[str]:
    """Each relation is captured, or left out for a reason that its shape allows."""
    for table, shape in outcome.shapes.items():
        reason = outcome.left_out.get(table)
        if reason is None:
            if table not in outcome.verify:
                yield f"{table} ({shape}) is neither captured nor left out"
        elif not re.search(REASONS.get(shape, "(?!)"), reason, re.IGNORECASE):
            yield f"{table} ({shape}) is left out: {reason}"


def _silence(outcome: Outcome) -> Iterator[str]:
    for table in outcome.different:
        if table not in outcome.told and "" not in outcome.told:
            yield f"{table} differs, and nothing was said: {outcome.verify[table]['differences'][:2]}"
