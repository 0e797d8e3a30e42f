"""The difference between the definition and what runs, as data, in the order in which it is safe to apply."""

from collections.abc import Iterator
from typing import Any

from lake.config.definition import Database, Table
from lake.config.environment import Environment
from lake.config.names import command_line, source_name
from lake.plan.facts import Facts
from lake.plan.refusals import NOTHING, Refused, content, running
from lake.rendering import columns
from lake.rendering.pipeline import FILE_NAME
from lake.rendering.topics import topics
from lake.sources.change import Change
from lake.sources.connector import source_connector
from lake.sources.engines import engine_of

SECRET = "password"


def changes(
    databases: list[Database], environment: Environment, facts: Facts, refused: Refused = NOTHING
) -> list[Change]:
    """All changes; none when what runs is what is defined. Nothing is changed for refused tables.

    Order: a table is prepared and has its topic before the connector may name it, is snapshotted once the
    connector streams, and leaves the capture only after the connector has stopped reading it. The pipeline file
    comes last: a table is in it only when all earlier changes are done, so an apply after a failed one resumes.
    """
    going_on = running(databases, refused, facts)
    if databases and not going_on:
        return []
    found = (change for one in going_on for change in _of_database(one, environment, facts))
    return [
        *(change for change in found if (change.database, change.table) not in refused),
        *_pipeline_changes(content(databases, environment, facts.pipeline, refused), facts.pipeline),
    ]


def _of_database(database: Database, environment: Environment, facts: Facts) -> Iterator[Change]:
    source = facts.sources[database.database]
    yield from source.missing
    yield from _topic_changes(database, environment, facts)
    yield from _connector_changes(database, environment, facts)
    yield from _snapshot_changes(database, facts)
    yield from source.departed


def _topic_changes(database: Database, environment: Environment, facts: Facts) -> Iterator[Change]:
    names = {table.topic(database.database): table.full_name for table in database.tables}
    for topic in topics(database, environment):
        found, name = facts.topics.get(topic.name), names.get(topic.name, "")
        before = found.config if found else {}
        settings = [f"{key}={value}" for key, value in topic.config.items() if before.get(key) != value]
        size = [f"partitions={topic.partitions}", f"replication={topic.replication_factor}"]
        if found is None:
            yield Change("topic", database.database, topic.name, "create", ", ".join([*size, *settings]), name)
        elif found.config != topic.config:
            yield Change("topic", database.database, topic.name, "set", ", ".join(settings), name)


def _connector_changes(database: Database, environment: Environment, facts: Facts) -> Iterator[Change]:
    wanted = source_connector(database, environment)
    found = facts.connectors[database.database]
    if found is None:
        detail = "; ".join([f"captures {wanted['table.include.list']}", *_masked(database)])
        yield Change("connector", database.database, database.connector, "create", detail)
    elif found != wanted:
        detail = "; ".join([*_differences(found, wanted), *_masked(database), *_taken_anew(database, facts)])
        yield Change("connector", database.database, database.connector, "update", detail)
    elif why := facts.failures.get(database.database):
        yield Change("connector", database.database, database.connector, "restart", f"it failed: {why}")


def _masked(database: Database) -> Iterator[str]:
    return (text for table in database.tables for text in columns.masks(table))


def _taken_anew(database: Database, facts: Facts) -> Iterator[str]:
    """Columns that leave the source from now on, of tables from which some must not."""
    for table in database.tables if facts.pipeline else ():
        before = facts.applied.get((database.database, table.schema, table.name), {})
        new = [column for column in table.taken or () if column not in before.get("taken", [])]
        if "taken" in before and new:
            yield f"takes {', '.join(new)} of {table.full_name}, too"


def _differences(found: dict[str, str], wanted: dict[str, str]) -> Iterator[str]:
    for key in sorted({*found, *wanted}):
        before, after = found.get(key), wanted.get(key)
        if before != after:
            yield f"{key} changed" if SECRET in key else f"{key}: {before} -> {after}"


def _snapshot_changes(database: Database, facts: Facts) -> Iterator[Change]:
    """A new connector reads all its tables itself. A table that is added later, returns, gets one more type, or becomes
    a multiset needs a request: Kafka does not keep its messages forever.
    """
    found = facts.connectors[database.database]
    if found is None:
        return
    captured = found.get("table.include.list", "").split(",")
    selector = engine_of(database).connector.selector
    for table in database.tables:
        is_captured = selector(table.full_name) in captured or table.full_name in captured  # as older versions wrote it
        if not is_captured or not _is_applied(database, table, facts):
            detail = f"existing rows of {table.full_name}, while changes are streamed"
            if table.without_key:
                command = command_line("recover", database.database)
                detail = f"existing rows of {table.full_name}, with all other tables: {command}"
            yield Change("snapshot", database.database, table.full_name, "read", detail, table.full_name)


def _is_applied(database: Database, table: Table, facts: Facts) -> bool:
    before = facts.applied.get((database.database, table.schema, table.name))
    types = {target["type"] for target in before["targets"]} if before else set()
    if before is None or before["epoch"] != table.epoch or table.without_key not in (None, before.get("without_key")):
        return False
    return types >= set(table.types)


def _pipeline_changes(wanted: dict[str, Any], found: dict[str, Any]) -> Iterator[Change]:
    yield from _left_behind(wanted, found)
    if wanted != found:
        detail = "; ".join(_pipeline_differences(wanted, found)) or "settings"
        yield Change("pipeline", "", FILE_NAME, "write", detail)


def _left_behind(wanted: dict[str, Any], found: dict[str, Any]) -> Iterator[Change]:
    """The Hudi tables of types that their definitions no longer name: whether their rows may go only a person knows."""
    before = {table["topic"]: table for table in found.get("tables", [])}
    for table in wanted["tables"]:
        kept = {target["type"] for target in table["targets"]}
        targets = before.get(table["topic"], {}).get("targets", [])
        every = sorted({*kept, *(target["type"] for target in targets)})
        for target in targets:
            if target["type"] not in kept:
                yield Change("pipeline", "", target["hive"][0], "stop writing", _what_stays(table, target, every))


def _what_stays(table: dict[str, Any], target: dict[str, Any], every: list[str]) -> str:
    names = " and ".join(target["hive"])
    key = f"tables.{source_name(table)}.types of databases/{table['database']}.yaml"
    return (
        f"the Hudi table at {target['path']} stays as it is, in the catalog as {names}, and gets no more changes; "
        f"to keep writing it: [{', '.join(every)}] for the key {key}; "
        f"to delete it: drop {names} in the catalog, then remove the folder"
    )


def _pipeline_differences(wanted: dict[str, Any], found: dict[str, Any]) -> Iterator[str]:
    before = {table["topic"]: table for table in found.get("tables", [])}
    after = {table["topic"]: table for table in wanted["tables"]}
    yield from (f"add {topic}" for topic in after if topic not in before)
    yield from (f"change {topic}" for topic in after if topic in before and after[topic] != before[topic])
    yield from (f"remove {topic}" for topic in before if topic not in after)
