"""One inspection of one source: reads all facts and finds the drift."""

from collections import ChainMap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from lake.clients.connect import Connect
from lake.config.definition import Database
from lake.config.environment import Environment
from lake.config.names import source_name
from lake.guardian import rules
from lake.rendering.pipeline import applied_keys, read_pipeline
from lake.sources.drift import Drift
from lake.sources.engine import CaptureFacts, Observation
from lake.sources.engines import engine_of, guard_of
from lake.state import baseline
from lake.state.baseline import Baseline

Applied = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Inspection:
    """What was found; observed is what accept() may make the baseline, expected the baseline until then.

    position: of the connector in the log, as Kafka acknowledged it; 0 before its first record. losing: the tables that
    lose changes just now.
    """

    database: Database
    observed: Baseline
    expected: Baseline
    capture: CaptureFacts | None
    position: int
    drifts: list[Drift]
    losing: frozenset[str] = frozenset()


def inspect(home: Environment, database: Database) -> Inspection:
    """BadInput when the source or Connect does not answer."""
    environment, partitions = home, home.kafka.partitions
    pipeline, connect, engine = read_pipeline(environment), Connect(home), engine_of(database)
    applied, database = applied_tables(database, pipeline), captured(database, pipeline)
    seen = guard_of(database).facts.observe(
        environment, database, lambda: engine.capture.acknowledged(connect.offset(database.connector))
    )
    losing = _losing(database, seen, applied) if pipeline else {}
    expected = _expected(home, database, seen, applied if pipeline else None, losing)
    drifts = [
        *_source_drifts(home, database, expected, seen),
        *rules.of_definition(
            database,
            engine.discovery.read_source(environment, database, applied_keys(pipeline, database.database)),
            partitions,
        ),
        *rules.of_connectors(database, connect.running()),
        *guard_of(database).limit.of_limit(environment, database, seen.capture),
    ]
    now = Baseline(seen.server, seen.tables)
    return Inspection(database, now, expected, seen.capture, seen.position, drifts, frozenset(losing))


def _expected(
    home: Environment, database: Database, seen: Observation, applied: Applied | None, losing: dict[str, str]
) -> Baseline:
    """The baseline, with the losses that were found now. applied: None if there is no pipeline file yet."""
    unread = {name: one for name, one in baseline.noted(home, database).items() if name in seen.tables}
    known = (baseline.load(home, database) or Baseline(seen.server, {})).with_new({**seen.tables, **unread})
    notes = baseline.noted_losses(home, database.database)
    if applied is not None:
        found = dict(ChainMap(*notes.values(), _losses(known, seen, applied, losing)))
        known = known.with_only(applied).with_losses(found)
    known = known.followed(seen.tables, guard_of(database).rules.followed).with_columns(seen.tables)
    baseline.save(home, database, known)
    baseline.forget_notes(path for path, reasons in notes.items() if reasons.keys() <= known.tables.keys())
    return known


def _source_drifts(home: Environment, database: Database, expected: Baseline, seen: Observation) -> Iterator[Drift]:
    of_source = guard_of(database).rules
    yield from of_source.of_server(database, expected.server, seen.server, seen.position)
    yield from of_source.of_capture(database, seen.capture, seen.position)
    for table in database.tables:
        if table.full_name in expected.tables:
            known = expected.tables[table.full_name]
            yield from of_source.of_table(database, known, seen.tables.get(table.full_name))


def applied_tables(database: Database, pipeline: dict[str, Any]) -> Applied:
    """The entries of the pipeline file that are the database's, by "schema.table"."""
    own = (one for one in pipeline.get("tables", []) if one["database"] == database.database)
    return {source_name(one): one for one in own}


def captured(database: Database, pipeline: dict[str, Any]) -> Database:
    """The database with those of its tables that `lake apply` has captured: the others can't have lost changes."""
    applied = applied_tables(database, pipeline)
    kept = {name: table for name, table in database.by_name.items() if name in applied}
    return database.model_copy(update={"by_name": kept})


def _losses(known: Baseline, seen: Observation, applied: Applied, losing: dict[str, str]) -> dict[str, str]:
    """Why changes are being lost, by table."""
    there = applied.keys() & seen.tables.keys()
    moved = {name: rules.moved_columns(known.tables[name], seen.tables[name]) for name in there}
    return {**{name: why for name, why in moved.items() if why}, **losing}


def _losing(database: Database, seen: Observation, applied: Applied) -> dict[str, str]:
    """Why changes are lost just now, by table."""
    of_source, found = guard_of(database).rules, {}
    for name in applied.keys() & seen.tables.keys():
        # An apply under way may make another identity than was applied.
        identities = {applied[name]["replica_identity"], database.by_name[name].replica_identity}
        found[name] = of_source.loss_reason(seen.tables[name], identities)
    return {name: why for name, why in found.items() if why}


def accept(home: Environment, before: Inspection, names: list[str]) -> None:
    """Makes the observation from before the data validation the tables' baseline, without losses found later."""
    known = (baseline.load(home, before.database) or before.expected).with_new(before.expected.tables)
    baseline.save(home, before.database, known.in_order(names, before.expected, before.observed.tables))


def accept_server(home: Environment, found: Inspection) -> None:
    """Takes the observed server as the baseline: capture begins again with it."""
    known = baseline.load(home, found.database) or found.observed
    baseline.save(home, found.database, Baseline(found.observed.server, known.tables))
