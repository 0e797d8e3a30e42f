"""Makes a plan, checks it and applies it."""

from collections.abc import Sequence
from dataclasses import dataclass

from lake.config.definition import Database, load_databases
from lake.config.environment import PROJECT, Environment, load_environment
from lake.config.errors import LakeError
from lake.config.report import Report
from lake.local import iam, scram
from lake.local.stack import Stack
from lake.plan.apply import apply, unfit
from lake.plan.diff import Change, changes
from lake.plan.facts import Facts, read_facts
from lake.plan.preconditions import findings
from lake.plan.refusals import refused_tables, running
from lake.sources.findings import Finding, refuse


@dataclass(frozen=True)
class Plan:
    """What `lake apply` changes, and what it refuses: the refused tables stay as they are."""

    defined: list[Database]
    place: Environment
    facts: Facts
    refused: list[Finding]

    @property
    def changes(self) -> list[Change]:
        return changes(self.defined, self.place, self.facts, refused_tables(self.defined, self.refused))

    @property
    def running(self) -> list[Database]:
        """The databases that go on, as they run after the plan was applied."""
        return running(self.defined, refused_tables(self.defined, self.refused), self.facts)

    def without(self, more: Sequence[Finding]) -> "Plan":
        return Plan(self.defined, self.place, self.facts, [*self.refused, *more])


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


def apply_all(environment: str, report: Report) -> Outcome:
    """Applies what can be applied; a database that fails or is refused keeps no other one from its changes."""
    plan = planned(environment)
    plan = plan.without(unfit(plan.changes, plan.running, plan.place))
    found, defined, place = plan.changes, plan.running, plan.place
    if not defined:
        return Outcome([], plan.refused, {})
    if place.has_roles:
        iam.write_policies(place)  # as cdk deploy: a new table is a new topic
    if place.has_users:
        scram.grant(place, defined)
    failures = apply(found, plan.defined, place, plan.facts, report, refused_tables(plan.defined, plan.refused))
    for service in ("stream", "guardian"):  # before the first apply they had nothing to do
        Stack(place).start_if_idle(service)
    return Outcome([one for one in found if one.database not in failures], plan.refused, failures)


def planned(name: str) -> Plan:
    place = load_environment(name, PROJECT)
    return plan_of(load_databases(PROJECT), place)


def plan_of(databases: list[Database], place: Environment) -> Plan:
    facts = read_facts(databases, place)
    return Plan(databases, place, facts, findings(databases, place, facts))
