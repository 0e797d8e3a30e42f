"""Makes a plan, checks it and applies it."""

from lake.config.definition import Database, load_databases
from lake.config.environment import PROJECT, Environment, load_environment
from lake.config.report import Report
from lake.local import iam, scram
from lake.local.stack import Stack
from lake.plan.apply import apply, validate
from lake.plan.diff import Change, changes
from lake.plan.facts import Facts, read_facts
from lake.plan.preconditions import check


def apply_all(environment: str, report: Report) -> list[Change]:
    """The changes that were made; BadInput before the first one when something can't be applied."""
    databases, place, facts, found = planned(environment)
    if place.has_roles:
        iam.write_policies(place)  # as cdk deploy: a new table is a new topic
    validate(found, databases, place)
    if place.has_users:
        scram.grant(place, databases)
    apply(found, databases, place, facts, report=report)
    for service in ("stream", "guardian"):  # before the first apply they had nothing to do
        Stack(place).start_if_idle(service)
    return found


def planned(name: str) -> tuple[list[Database], Environment, Facts, list[Change]]:
    place = load_environment(name, PROJECT)
    databases = load_databases(PROJECT)
    facts = read_facts(databases, place)
    check(databases, place, facts)
    return databases, place, facts, changes(databases, place, facts)
