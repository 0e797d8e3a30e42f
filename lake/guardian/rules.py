"""The rules for a source of any engine: which facts are drift."""

from collections.abc import Collection, Iterable, Iterator, Mapping

from lake.config.definition import Database
from lake.config.names import command_line
from lake.sources.change import Change
from lake.sources.drift import BEHIND_S, Drift
from lake.sources.engine import SourceFacts, TableFacts
from lake.sources.engines import engine_of


def of_definition(database: Database, source: SourceFacts, partitions: int) -> Iterator[Drift]:
    """Drift from the definition: rules that it breaks now, and changes that `lake apply` would make."""
    found = engine_of(database).checks.findings(database, source.catalog, partitions)
    yield from (Drift(database.database, one.table, f"{one.what} ({one.where})", one.now) for one in found)
    refused = {one.table for one in found}
    for change in source.missing if "" not in refused else ():
        if change.table and change.table in refused:
            continue
        what = f"differs from the definition: {change.object}"
        yield Drift(database.database, change.table, what, f"{change.action}: lake apply")


def of_connectors(database: Database, settings: Mapping[str, Mapping[str, str]]) -> Iterator[Drift]:
    """Another connector that writes to the same topics, or uses the same capture of the log: older changes or snapshot
    rows of one would come after newer changes of the other. settings: of all connectors, by name.
    """
    for name, one in settings.items():
        shared = {"topic.prefix": database.topic_prefix, **engine_of(database).connector.exclusive(database)}
        named = [f"{key} {value}" for key, value in shared.items() if one.get(key) == value]
        if named and name != database.connector:
            what = f"connector {name} has the {' and the '.join(named)} of {database.connector}, too"
            now = f"delete {name} in Kafka Connect, then: {command_line('verify', database.database)}"
            yield Drift(database.database, "", what, now)


def of_leaving(changes: Iterable[Change]) -> Iterator[Drift]:
    """What is captured on, though the definition has it no more."""
    for one in changes:
        now = "restore its file, or its line; or take it out: lake apply --yes"
        yield Drift(one.database, "", f"{one.object} left the definition, and is captured still", now)


def of_undefined(known: Collection[str], settings: Mapping[str, Mapping[str, str]]) -> Iterator[Drift]:
    """Connectors with a slot of the lake that belong to no definition: their slots keep the log of a source."""
    for name, one in settings.items():
        if name not in known and one.get("slot.name", "").startswith("lake_"):
            what = f"connector {name} runs with the slot {one['slot.name']}, and nothing defines it"
            yield Drift(one.get("database.dbname", ""), "", what, "restore its definition, or delete both")


def without_connector(database: Database) -> Drift:
    """Drift if nothing reads the log for tables that are applied."""
    what = f"Kafka Connect has no connector {database.connector}: nothing is captured"
    return Drift(database.database, "", what, "lake apply")


def of_lag(database: Database, age_s: float) -> Iterator[Drift]:
    """Drift if changes take too long to reach Kafka."""
    if age_s > BEHIND_S:
        what = f"Kafka does not have changes from more than {BEHIND_S:.0f} s ago"
        now = f"wait if {database.connector} has much to read; otherwise see: lake logs connect"
        yield Drift(database.database, "", what, now)


def moved_columns(expected: TableFacts, observed: TableFacts) -> str:
    """Why a column has the values of another one; '' if none has. Rows that do not change send no event for that."""
    numbers = {name: number for number, name in expected.columns.items()}
    for number, name in observed.columns.items() if observed.relation == expected.relation else ():
        if (before := expected.columns.get(number, name)) != name:
            return f"had its column {before} renamed to {name}"
        if numbers.get(name, number) != number:
            return f"had its column {name} dropped and added again"
    return ""
