"""Rules for a definition, given the facts: pure functions that find what breaks them."""

from collections.abc import Iterator
from typing import Any

from lake.config.columns import ALL_OTHERS
from lake.config.definition import Database, Table
from lake.config.environment import Environment
from lake.config.names import source_name
from lake.plan.facts import Facts
from lake.plan.refusals import accepted, refused_tables
from lake.rendering.hudi import BUCKETS
from lake.rendering.pipeline import pipeline
from lake.rendering.topics import topics
from lake.sources.engines import engine_of
from lake.sources.findings import Finding

FIXED = {"keys": "key", "partition": "partition"}
Rule = tuple[str, str, str]  # what is wrong, where, and what to do now


def findings(databases: list[Database], environment: Environment, facts: Facts) -> list[Finding]:
    """All that keeps tables from being captured. A table that its source refuses is not compared with what runs."""
    found = [*facts.unread, *_of_sources(databases, environment, facts)]
    rest = accepted(databases, refused_tables(databases, found))
    return [
        *found,
        *_of_topics(rest, environment, facts),
        *_of_masks(rest, facts),
        *_of_rebuilds(rest, environment, facts),
    ]


def _of_sources(databases: list[Database], environment: Environment, facts: Facts) -> Iterator[Finding]:
    for one in databases:
        if source := facts.sources.get(one.database):
            yield from engine_of(one).checks.findings(one, source.catalog, environment.kafka.partitions)


def _of_topics(databases: list[Database], environment: Environment, facts: Facts) -> Iterator[Finding]:
    """The partitions of a topic are fixed for its life: a key must stay in one."""
    applied = {table["topic"]: table.get("partitions") for table in facts.applied.values()}
    for one in databases:
        names = {table.topic(one.database): table.full_name for table in one.tables}
        for topic in topics(one, environment):
            found = facts.topics.get(topic.name)
            if found and found.partitions != topic.partitions:
                is_as_applied = applied.get(topic.name) == topic.partitions
                rule = _of_partitions(topic.name, found.partitions, topic.partitions, is_as_applied)
                yield Finding(one.database, names.get(topic.name, ""), *rule)


def _of_partitions(topic: str, found: int, wanted: int, is_as_applied: bool) -> Rule:
    what = f"topic {topic} has {found} partitions, not {wanted}"
    if is_as_applied:
        now = "they were added later and its tables are stopped: docs/runbooks/lost-topic.md"
        return f"{what}: keys moved to other partitions and lost their order", "Kafka", now
    now = f"set it back to {found}: keys would move to other partitions and lose their order"
    return what, "key topic_partitions of the table, or kafka.partitions of the environment", now


def _of_masks(databases: list[Database], facts: Facts) -> Iterator[Finding]:
    """What a column is taken as never changes: its values from before would stay in topic, archive and tables."""
    for one in databases:
        for table in one.tables:
            before = facts.applied.get((one.database, table.schema, table.name))
            for column in _changed_columns(before, table) if before else ():
                what = f"the lake has column '{column}' of {table.full_name} as it was applied, with all its history"
                where = f"databases/{one.database}.yaml, key tables.{table.full_name}.columns.{column}"
                now = "set it back, or build the table anew: docs/definition.md, Columns"
                yield Finding(one.database, table.full_name, what, where, now)


def _changed_columns(before: dict[str, Any], table: Table) -> Iterator[str]:
    """A column that the lake never had may get any form, and one that the source no longer has may lose its own."""
    then, now = before.get("columns", {}), {name: column.as_written for name, column in table.columns.items()}
    for name in {**then, **now}:
        never_had = name not in then and name != ALL_OTHERS and name not in before.get("taken", [name])
        is_gone = name not in now and name != ALL_OTHERS and name not in (table.taken or [name])
        if then.get(name, "keep") != now.get(name, "keep") and not (never_had or is_gone):
            yield name


def _of_rebuilds(databases: list[Database], environment: Environment, facts: Facts) -> Iterator[Finding]:
    for table in pipeline(databases, environment)["tables"]:
        before = facts.applied.get((table["database"], table["schema"], table["table"]))
        name = source_name(table)
        where = f"databases/{table['database']}.yaml, key tables.{name}"
        for what, key, now in _of_rebuild(before, table, facts) if before else ():
            yield Finding(table["database"], name, what, f"{where}.{key}", now)


def _of_rebuild(before: dict[str, Any], table: dict[str, Any], facts: Facts) -> Iterator[Rule]:
    """Compares the settings that a lake table never changes with those that the last apply wrote."""
    for field, key in FIXED.items():
        if before[field] != table[field]:
            yield f"the lake table is built with {key} {before[field]}", key, "set it back"
    if _archived(before) != _archived(table):
        yield f"the archive of {table['topic']} has another form", "bronze", "set it back"
    for path, name in _renamed(before, table):
        yield f"the lake table {path} is known as {name}", "lake_name", "set lake_name back"
    if _buckets(before) and _buckets(table) and _buckets(before) != _buckets(table):
        yield f"the lake table has {_buckets(before)} buckets", "buckets", "set it back"
    if table["epoch"] < before["epoch"]:
        now = f"write epoch: {before['epoch']} or more"
        yield f"epoch {table['epoch']} is below the one applied, {before['epoch']}", "epoch", now
    if table["epoch"] == before["epoch"] and table["topic"] not in facts.topics:
        now = f"write epoch: {before['epoch'] + 1}, then lake apply creates it and takes a new snapshot"
        yield f"topic {table['topic']} does not exist; a new one starts at offset 0", "epoch", now


def _archived(table: dict[str, Any]) -> dict[str, Any]:
    """Format and folders of the archive of an entry, where they are not the usual ones."""
    return {key: value for key, value in table.get("bronze", {}).items() if key in ("format", "by")}


def _renamed(before: dict[str, Any], table: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Path and name of each Hudi table that the definition calls otherwise: its rows stay where they are."""
    now = {target["type"]: target for target in table["targets"]}
    for target in before["targets"]:
        other = now.get(target["type"], target)
        if (other["path"], other["hive"]) != (target["path"], target["hive"]):
            yield target["path"], target["hive"][0]


def _buckets(table: dict[str, Any]) -> str | None:
    found = [target["options"][BUCKETS] for target in table["targets"] if BUCKETS in target["options"]]
    return found[0] if found else None
