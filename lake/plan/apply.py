"""Applies a plan, one change after the other. Each change can be repeated safely."""

from collections.abc import Callable
from itertools import groupby

from lake.clients import connect as kafka_connect
from lake.clients.connect import Connect, runs
from lake.clients.kafka import Broker
from lake.clients.reconcile import root_cause
from lake.config.definition import Database
from lake.config.environment import Environment
from lake.config.errors import LakeError, in_the_middle
from lake.config.report import Report
from lake.config.waiting import wait_until
from lake.plan.facts import Facts
from lake.rendering.pipeline import pipeline, write_pipeline
from lake.sources.change import Change
from lake.sources.connector import source_connector
from lake.sources.engines import engine_of
from lake.state import baseline

RUNNING_LIMIT_S = 120.0


def validate(planned: list[Change], databases: list[Database], environment: Environment) -> None:
    """Lets Connect check every connector that would change; BadInput before anything is touched."""
    changing = {change.database for change in planned if change.kind == "connector"}
    wanted = {one.connector: source_connector(one, environment) for one in databases if one.database in changing}
    kafka_connect.validate(Connect(environment), wanted)


def apply(
    planned: list[Change], databases: list[Database], environment: Environment, facts: Facts, report: Report
) -> None:
    """Performs the changes in their order and stops at the first one that fails, which LakeError names."""
    performer = _Performer(databases, environment, facts)
    for (kind, database), group in groupby(planned, key=lambda change: (change.kind, change.database)):
        listed = list(group)
        for change in listed:
            report(f"{change.action}: {change.object}")
        with in_the_middle("lake apply"):
            getattr(performer, kind)(database, listed)


class _Performer:
    """One method per kind of change."""

    def __init__(self, databases: list[Database], environment: Environment, facts: Facts) -> None:
        self._databases = {database.database: database for database in databases}
        self._environment = environment
        self._facts = facts
        self._connect = Connect(environment)
        self._readers_before: dict[str, int | None] = {}

    def source(self, database: str, group: list[Change]) -> None:
        definition = self._databases[database]
        preparation = engine_of(definition).preparation
        preparation.execute(self._environment, definition, [change.detail for change in group])

    def topic(self, database: str, group: list[Change]) -> None:
        broker = Broker(self._environment.kafka_bootstrap)
        wanted = {topic.name: topic for topic in self._facts.wanted_topics}
        for change in group:
            perform = broker.create if change.action == "create" else broker.set_config
            perform(wanted[change.object])

    def connector(self, database: str, group: list[Change]) -> None:
        definition = self._databases[database]
        baseline.note(self._environment, definition)
        self._readers_before[database] = engine_of(definition).capture.reader(self._environment, definition)
        self._connect.put(source_connector(definition, self._environment))
        self._wait(lambda: self._runs(definition), f"connector {definition.connector}")

    def snapshot(self, database: str, group: list[Change]) -> None:
        """Sends the request once a task that knows the new tables reads: the old task would ignore it."""
        definition = self._databases[database]
        self._wait(lambda: self._is_read_by_another(definition), f"connector {definition.connector}")
        tables = [change.object for change in group]
        engine_of(definition).capture.request_snapshot(self._environment, definition, tables)

    def pipeline(self, database: str, group: list[Change]) -> None:
        write_pipeline(pipeline(list(self._databases.values()), self._environment), self._environment)

    def _runs(self, database: Database) -> bool:
        status = self._connect.status(database.connector)
        for part in [status["connector"], *status["tasks"]] if status else []:
            if part["state"] == "FAILED":
                why = root_cause(part.get("trace", "no reason given"))
                now = "correct the cause, then run: lake apply"
                raise LakeError(f"the connector failed: {why}", f"connector {database.connector}", now)
        return runs(status)

    def _is_read_by_another(self, database: Database) -> bool:
        reader = engine_of(database).capture.reader(self._environment, database)
        before = self._readers_before.get(database.database)
        return self._runs(database) and reader is not None and reader != before

    def _wait(self, is_so: Callable[[], bool], what: str) -> None:
        late = LakeError(
            f"{what} does not run after {RUNNING_LIMIT_S:.0f} s",
            self._connect.url,
            "see lake logs connect; a long first snapshot delays it: run lake apply again later",
        )
        wait_until(is_so, RUNNING_LIMIT_S, late)
