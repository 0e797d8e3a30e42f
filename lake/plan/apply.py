"""Applies a plan, one change after the other. Each change can be repeated safely."""

from collections.abc import Callable
from itertools import groupby
from time import monotonic

from lake.clients import connect as kafka_connect
from lake.clients.connect import Connect, failure, runs
from lake.clients.kafka import Broker
from lake.config.definition import Database
from lake.config.environment import Environment
from lake.config.errors import BadInput, LakeError, in_the_middle
from lake.config.report import Report
from lake.config.waiting import wait_until
from lake.plan.facts import Facts
from lake.plan.refusals import NOTHING, Refused, content, running
from lake.rendering.pipeline import write_pipeline
from lake.sources.change import SET_PASSWORD, Change
from lake.sources.connector import source_connector
from lake.sources.engines import engine_of
from lake.sources.findings import Finding, unreadable
from lake.state import baseline

UNREAD_ROWS = "has no key, and its rows from before are not read yet"
RUNNING_LIMIT_S = 120.0
FAILED_LIMIT_S = 15.0  # Connect tells the state from before a restart for a moment


def unfit(planned: list[Change], databases: list[Database], environment: Environment) -> list[Finding]:
    """Lets Connect check every connector that would change, before anything is touched: the databases it refuses."""
    changing = {change.database for change in planned if change.kind == "connector"}
    changing -= {change.database for change in planned if change.action == SET_PASSWORD}  # it can't log in yet
    found = []
    for one in databases:
        if one.database in changing:
            try:
                kafka_connect.validate(Connect(environment), {one.connector: source_connector(one, environment)})
            except BadInput as problem:
                found.append(unreadable(one.database, problem))
    return found


def apply(
    planned: list[Change],
    databases: list[Database],
    environment: Environment,
    facts: Facts,
    report: Report,
    refused: Refused = NOTHING,
) -> dict[str, LakeError]:
    """Performs the changes in their order, and returns the failures by database: one that fails gets no more changes.

    databases: as they are defined, with the tables that the plan refused.
    """
    performer = _Performer(databases, environment, facts, refused)
    failures: dict[str, LakeError] = {}
    for (kind, database), group in groupby(planned, key=lambda change: (change.kind, change.database)):
        if database in failures:
            continue
        try:
            performer.perform(kind, database, list(group), report)
        except LakeError as problem:
            failures[database] = problem
            performer.give_up(database)
    return failures


class _Performer:
    """One method per kind of change."""

    def __init__(self, databases: list[Database], environment: Environment, facts: Facts, refused: Refused) -> None:
        self._defined = databases
        self._refused = refused
        self._running = {one.database: one for one in running(databases, refused, facts)}
        self._environment = environment
        self._facts = facts
        self._connect = Connect(environment)
        self._readers_before: dict[str, int | None] = {}

    def perform(self, kind: str, database: str, group: list[Change], report: Report) -> None:
        for change in group:
            report(f"{change.action}: {change.object}")
        with in_the_middle("lake apply"):
            getattr(self, kind)(database, group)

    def give_up(self, database: str) -> None:
        """The tables of the database stay in the pipeline file as they are: the next apply begins with them again."""
        names = {(one.database, name) for one in self._defined for name in one.by_name if one.database == database}
        self._refused = self._refused | names

    def source(self, database: str, group: list[Change]) -> None:
        definition = self._running[database]
        preparation, leaving = engine_of(definition).preparation, engine_of(definition).leaving
        if leaving:
            leaving.note_identities(self._environment, definition)
        preparation.execute(self._environment, definition, group)

    def topic(self, database: str, group: list[Change]) -> None:
        broker = Broker(self._environment.kafka_bootstrap)
        wanted = {topic.name: topic for topic in self._facts.wanted_topics}
        for change in group:
            perform = broker.create if change.action == "create" else broker.set_config
            perform(wanted[change.object])

    def connector(self, database: str, group: list[Change]) -> None:
        definition = self._running[database]
        baseline.note(self._environment, definition)
        self._readers_before[database] = engine_of(definition).capture.reader(self._environment, definition)
        self._connect.put(source_connector(definition, self._environment))
        if database in self._facts.failures:
            self._connect.tell(definition.connector, "restart")
        self._wait(lambda: runs(self._connect.status(definition.connector)), definition)

    def snapshot(self, database: str, group: list[Change]) -> None:
        """Sends the request once a task that knows the new tables reads: the old task would ignore it.

        A table without a key can't be read beside the stream (ADR 48): it is named until all tables are read again.
        """
        definition = self._running[database]
        self._wait(lambda: self._is_read_by_another(definition), definition)
        names = [change.object for change in group]
        later = [name for name in names if definition.by_name[name].without_key]
        if later:
            baseline.note_losses(self._environment, database, dict.fromkeys(later, UNREAD_ROWS))
        if tables := [name for name in names if name not in later]:
            engine_of(definition).capture.request_snapshot(self._environment, definition, tables)

    def pipeline(self, database: str, group: list[Change]) -> None:
        found = content(self._defined, self._environment, self._facts.pipeline, self._refused)
        write_pipeline(found, self._environment)

    def _is_read_by_another(self, database: Database) -> bool:
        reader = engine_of(database).capture.reader(self._environment, database)
        before = self._readers_before.get(database.database)
        return runs(self._connect.status(database.connector)) and reader is not None and reader != before

    def _wait(self, is_so: Callable[[], bool], database: Database) -> None:
        late = LakeError(
            f"connector {database.connector} does not run after {RUNNING_LIMIT_S:.0f} s",
            self._connect.url,
            "see lake logs connect; a long first snapshot delays it: run lake apply again later",
        )
        refuse_failed = _Failed(self._connect, database.connector)
        wait_until(lambda: is_so() or refuse_failed(), RUNNING_LIMIT_S, late)


class _Failed:
    """LakeError once a connector has been FAILED for some seconds. It is never true."""

    def __init__(self, connect: Connect, connector: str) -> None:
        self._connect = connect
        self._connector = connector
        self._since: float | None = None

    def __call__(self) -> bool:
        why = failure(self._connect.status(self._connector))
        self._since = (self._since or monotonic()) if why else None
        if self._since and monotonic() - self._since > FAILED_LIMIT_S:
            now = "correct the cause, then run: lake apply"
            raise LakeError(f"the connector failed: {why}", f"connector {self._connector}", now)
        return False
