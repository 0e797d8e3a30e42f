"""Rules for a definition, given the facts: each one raises BadInput."""

from collections.abc import Iterator
from typing import Any

from lake.config.definition import Database
from lake.config.environment import Environment
from lake.config.errors import BadInput
from lake.plan.facts import Facts
from lake.rendering.hudi import BUCKETS
from lake.rendering.pipeline import pipeline
from lake.sources.engines import engine_of

FIXED = {"keys": "key", "partition": "partition"}


def check(databases: list[Database], environment: Environment, facts: Facts) -> None:
    """BadInput for the first problem, in the order in which a user would solve them."""
    for database in databases:
        catalog = facts.sources[database.database].catalog
        engine_of(database).checks.check_source(database, catalog, environment.kafka.partitions)
    _check_topics(facts)
    for table in pipeline(databases, environment)["tables"]:
        before = facts.applied.get((table["database"], table["schema"], table["table"]))
        if before:
            _check_rebuild(before, table, facts)


def _check_topics(facts: Facts) -> None:
    """The partitions of a topic are fixed for its life: a key must stay in one."""
    applied = {table["topic"]: table.get("partitions") for table in facts.applied.values()}
    for topic in facts.wanted_topics:
        found = facts.topics.get(topic.name)
        if not found or found.partitions == topic.partitions:
            continue
        what = f"topic {topic.name} has {found.partitions} partitions, not {topic.partitions}"
        if applied.get(topic.name) == topic.partitions:
            now = "they were added later and its tables are stopped: docs/runbooks/lost-topic.md"
            raise BadInput(f"{what}: keys moved to other partitions and lost their order", "Kafka", now)
        now = f"set it back to {found.partitions}: keys would move to other partitions and lose their order"
        raise BadInput(what, "key topic_partitions of the table, or kafka.partitions of the environment", now)


def _check_rebuild(before: dict[str, Any], table: dict[str, Any], facts: Facts) -> None:
    """Compares the settings that a lake table never changes with those that the last apply wrote."""
    where = f"databases/{table['database']}.yaml, key tables.{table['schema']}.{table['table']}"
    for field, key in FIXED.items():
        if before[field] != table[field]:
            raise BadInput(f"the lake table is built with {key} {before[field]}", f"{where}.{key}", "set it back")
    if _archived(before) != _archived(table):
        raise BadInput(f"the archive of {table['topic']} has another form", f"{where}.bronze", "set it back")
    for path, name in _renamed(before, table):
        raise BadInput(f"the lake table {path} is known as {name}", f"{where}.lake_name", "set lake_name back")
    if _buckets(before) and _buckets(table) and _buckets(before) != _buckets(table):
        raise BadInput(f"the lake table has {_buckets(before)} buckets", f"{where}.buckets", "set it back")
    if table["epoch"] < before["epoch"]:
        now = f"write epoch: {before['epoch']} or more"
        raise BadInput(f"epoch {table['epoch']} is below the one applied, {before['epoch']}", f"{where}.epoch", now)
    if table["epoch"] == before["epoch"] and table["topic"] not in facts.topics:
        now = f"write epoch: {before['epoch'] + 1}, then lake apply creates it and takes a new snapshot"
        raise BadInput(f"topic {table['topic']} does not exist; a new one starts at offset 0", f"{where}.epoch", now)


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
