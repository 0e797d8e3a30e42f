"""The tables of a database, each with the settings under which it can be captured, or the reasons why it cannot.

The reasons are those of `lake plan`: the same rules read the same catalog.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from pydantic import TypeAdapter, ValidationError

from lake.config.definition import Database, Table
from lake.config.environment import Environment
from lake.config.naming import joined
from lake.discovery.dsn import Target
from lake.sources.engines import engine_of
from lake.sources.postgres.survey import Relation, Survey

TABLE_KINDS = ("table", "partitioned table")
# Under each of these a table may be captured; the first one that no rule refuses is taken.
SETTINGS: tuple[dict[str, Any], ...] = ({}, {"replica_identity": "default"}, {"replica_identity": "index"})


@dataclass(frozen=True)
class Reason:
    """Why something cannot be captured, and what to do now."""

    what: str
    now: str


@dataclass(frozen=True)
class Candidate:
    """A relation; settings: of a definition. reasons: none if it can be captured."""

    relation: Relation
    settings: dict[str, Any]
    reasons: tuple[Reason, ...] = ()

    @property
    def full_name(self) -> str:
        return full_name(self.relation)


@dataclass(frozen=True)
class Found:
    """reasons: why no table of the database can be captured."""

    database: str
    survey: Survey
    reasons: tuple[Reason, ...]
    candidates: tuple[Candidate, ...]

    @property
    def capturable(self) -> list[Candidate]:
        return [one for one in self.candidates if not one.reasons]


def explained(reasons: Iterable[Reason]) -> str:
    return "; ".join(f"{one.what} ({one.now})" for one in reasons)


def full_name(relation: Relation) -> str:
    """The name as a definition has it."""
    return joined(relation.schema, relation.name)


def candidates(environment: Environment, target: Target, survey: Survey) -> Found:
    """All relations of a database, judged by the rules of the plan."""
    read = {full_name(one): _table(one) for one in survey.relations}
    possible = {name: table for name, table in read.items() if isinstance(table, Table)}
    rules = _Rules(environment, target, possible)
    found = []
    for relation in survey.relations:
        table = read[full_name(relation)]
        settings, reasons = rules.verdict(table) if isinstance(table, Table) else ({}, (table,))
        found.append(Candidate(relation, {"key": rules.key(relation), **settings}, reasons))
    return Found(target.database, survey, rules.of_database(), tuple(found))


def _table(relation: Relation) -> Table | Reason:
    """The table as the shortest definition has it."""
    if relation.kind not in TABLE_KINDS:
        return Reason(f"it is a {relation.kind}", "capture the tables behind it")
    try:
        return TypeAdapter(Table).validate_python({"full_name": full_name(relation)})
    except ValidationError as error:
        first = error.errors()[0]
        what, _, now = str(first.get("ctx", {}).get("error", first["msg"])).partition(" | ")
        return Reason(what, now or "rename it")


class _Rules:
    """The rules of the plan for the tables of one database, whose catalog is read once."""

    def __init__(self, environment: Environment, target: Target, tables: dict[str, Table]) -> None:
        self._target = target
        self._partitions = environment.kafka.partitions
        every = self._defined(tables)
        self._checks = engine_of(every).checks
        self._catalog = engine_of(every).discovery.read_source(environment, every).catalog

    def key(self, relation: Relation) -> list[str]:
        """The columns that identify the rows, as the plan finds them; none without a usable key."""
        found = self._catalog.tables.get(full_name(relation))
        return next(iter(found.identities), []) if found else relation.key

    def of_database(self) -> tuple[Reason, ...]:
        """Why no table can be captured."""
        return tuple(self._broken({}))

    def verdict(self, table: Table) -> tuple[dict[str, Any], tuple[Reason, ...]]:
        """The settings under which the table can be captured, or the reasons why it cannot under the usual ones."""
        usual: tuple[Reason, ...] = ()
        for settings in SETTINGS:
            reasons = tuple(self._broken({table.full_name: replace(table, **settings)}))
            if not reasons:
                return settings, ()
            usual = usual or reasons
        return {}, usual

    def _broken(self, tables: dict[str, Table]) -> Iterator[Reason]:
        for one in self._checks.findings(self._defined(tables), self._catalog, self._partitions):
            if bool(tables) == bool(one.table):
                yield Reason(one.what, one.now)

    def _defined(self, tables: dict[str, Table]) -> Database:
        """Names that meet in the lake are told apart later, among the tables that are chosen."""
        return Database.model_construct(database=self._target.database, source=self._target.source, by_name=tables)
