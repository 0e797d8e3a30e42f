"""Makes a plan, checks it and applies it."""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass

from lake.config.definition import Database, load_databases
from lake.config.environment import PROJECT, Environment, load_environment
from lake.config.errors import LakeError
from lake.config.lock import await_free, locked
from lake.config.report import Report
from lake.local import iam, scram
from lake.local.stack import Stack
from lake.plan.apply import apply, unfit
from lake.plan.diff import Change, changes
from lake.plan.facts import Facts, read_facts
from lake.plan.leaving import Leaving, captured, leaving, take_out
from lake.plan.preconditions import findings
from lake.plan.refusals import Refused, refused_tables, running
from lake.rendering.pipeline import read_pipeline
from lake.sources.findings import Finding, refuse
from lake.state import applied

LOCK = "apply.lock"
BUSY = "another lake apply is at work, by the guardian or by a command"
WITHIN_S = 300.0


@dataclass(frozen=True)
class Plan:
    """What `lake apply` changes, and what it refuses: the refused tables stay as they are."""

    defined: list[Database]
    place: Environment
    facts: Facts
    refused: list[Finding]
    left: Leaving

    @property
    def held(self) -> Refused:
        """What stays as it is: the refused tables, and those that left the definition."""
        return refused_tables(self.defined, self.refused) | self.left.names

    @property
    def changes(self) -> list[Change]:
        return [*changes(self.defined, self.place, self.facts, self.held), *self.left.changes]

    @property
    def running(self) -> list[Database]:
        """The databases that go on, as they run after the plan was applied."""
        return running(self.defined, self.held, self.facts)

    def without(self, more: Sequence[Finding]) -> "Plan":
        return Plan(self.defined, self.place, self.facts, [*self.refused, *more], self.left)


@dataclass(frozen=True)
class Outcome:
    """What an apply did. failures: by database, what ended its changes in the middle."""

    changes: list[Change]
    refused: list[Finding]
    failures: dict[str, LakeError]

    def demand(self, database: str = "") -> None:
        """Raises the first failure or refusal, of one database or of any."""
        for name, problem in self.failures.items():
            if database in ("", name):
                raise problem
        refuse(one for one in self.refused if database in ("", one.database))


def apply_all(environment: str, report: Report, leave: bool = False) -> Outcome:
    """Applies what can be applied; a database that fails or is refused keeps no other one from its changes.

    leave: takes out what left the definition, which otherwise is captured on.

    One after the other: the guardian applies, too, where a new table meets a pattern.
    """
    await_free(load_environment(environment, PROJECT).data / LOCK, BUSY, WITHIN_S)
    gone = take_all_out(environment, report) if leave else []
    plan = planned(environment)
    plan = plan.without(unfit(plan.changes, plan.running, plan.place))
    found, defined, place = [one for one in plan.changes if one.kind != "leave"], plan.running, plan.place
    if not (defined or plan.facts.pipeline):
        return Outcome([], plan.refused, {})
    if defined and place.has_roles:
        iam.write_policies(place)  # as cdk deploy: a new table is a new topic
    if place.has_users:
        scram.grant(place, defined)
    with locked(place.data / LOCK, BUSY) if found else nullcontext():
        failures = apply(found, plan.defined, place, plan.facts, report, plan.held)
        applied.save(place, captured(plan.defined, read_pipeline(place)))
    for service in ("stream", "guardian"):  # before the first apply they had nothing to do
        Stack(place).start_if_idle(service)
    return Outcome([*gone, *(one for one in found if one.database not in failures)], plan.refused, failures)


def take_all_out(environment: str, report: Report) -> list[Change]:
    """Takes out what left the definition, a database after the other, and forgets that it was captured."""
    place = load_environment(environment, PROJECT)
    left = leaving(place, _defined(place))
    take_out(place, left, report)
    applied.save(place, left.gone_from(applied.load(place).values()))
    return left.changes


def planned(name: str) -> Plan:
    place = load_environment(name, PROJECT)
    return plan_of(_defined(place), place)


def left_out(name: str) -> list[Change]:
    """What left the definition and is captured still."""
    place = load_environment(name, PROJECT)
    return leaving(place, _defined(place)).changes


def _defined(place: Environment) -> list[Database]:
    """The last file may leave, too: until it is taken out, and its tables with it."""
    runs = applied.load(place) or read_pipeline(place).get("tables")
    return load_databases(PROJECT, may_be_none=bool(runs))


def plan_of(databases: list[Database], place: Environment) -> Plan:
    left = leaving(place, databases)
    joined = left.joined(databases)
    facts, names = read_facts(joined, place), {one.database for one in databases}
    known = facts.resolved(joined)
    found = findings([one for one in known if one.database in names], place, facts)
    return Plan(known, place, facts, [one for one in found if one.database in names], left)
