"""What an operator does with a lake that stands: looks, starts, stops, tears down, rebuilds; played once."""

import os
import random
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lake.config.errors import BadInput, LakeError
from lake.deployments.deployment import Resource
from lake.deployments.rebuild import rebuild
from lake.deployments.teardown import plan, teardown
from tests.emulated_account.account import Account, Door
from tests.emulated_account.asked import Asked, ask
from tests.emulated_account.command import Cdk
from tests.emulated_account.inventory import inventory
from tests.emulated_account.killed import NEVER, Outcome, killed_at
from tests.emulated_account.operator import Jobs, as_operator, lake_of, quiet, refused, yes
from tests.emulated_account.sight import look
from tests.emulated_account.story import HOME, put_objects, succeeded
from tests.emulated_account.worked import Worked, work
from tests.synth.synthesis import synthesize

KILLS = int(os.environ.get("LAKE_KILLS", "6"))  # each takes two seconds; make slow: 20
SEED = 20
LATE = (
    *("/aws/eks/lake-dev/cluster", "/aws/containerinsights/lake-dev/performance"),
    *("/aws/rds/instance/lake-dev/postgresql", "lake-dev-connect-Handlers8BB2EEA8-1"),
)


@dataclass(frozen=True)
class Operated:
    """What was seen."""

    worked: Worked
    asked: Asked
    planned: list[tuple[Resource, bool]]
    undisturbed: Outcome
    kills: list[Outcome]
    unconfirmed: str
    protected: str
    left: list[Resource]
    after: set[str]
    empty: set[str]
    rebuilt: dict[str, Any]
    stacks: dict[str, str]
    kept: list[Resource]
    late: list[tuple[Resource, bool]]
    late_left: set[str]
    met_late: str
    finally_left: set[str]


def operate(door: Door, folder: Path) -> Operated:
    account, cdk = door.account, Cdk(door.account, HOME)
    succeeded(cdk.bootstrap())
    empty = inventory(account, HOME)
    succeeded(cdk.deploy(synthesize("dev").folder))
    with as_operator(account):
        return _operate(door, account, empty, work(account, folder), ask(account))


def _operate(door: Door, account: Account, empty: set[str], worked: Worked, asked: Asked) -> Operated:
    account.emr.machine = Jobs(account).machine()
    put_objects(account, HOME, look(account, HOME, "dev"))
    dev = lake_of("dev")
    planned = plan(dev, False)
    undisturbed, kills = kill_teardowns(door, empty)
    unconfirmed = refused(lambda: teardown(dev, False, quiet, lambda _: False), LakeError)
    protected = refused(lambda: teardown(lake_of("prod"), False, quiet, yes), BadInput)
    left, after = teardown(dev, False, quiet, yes), inventory(account, HOME)
    write_late(account)
    late = plan(dev, False)
    teardown(dev, False, quiet, yes)
    late_left = inventory(account, HOME)
    write_late(account)
    met_late = Cdk(account, HOME).deploy(synthesize("dev").folder).text
    rebuilt, stacks = rebuild(dev, quiet, yes), dev.stacks.statuses()
    kept = teardown(dev, True, quiet, yes)
    teardown(dev, False, quiet, yes)
    seen = (
        worked,
        asked,
        planned,
        undisturbed,
        kills,
        unconfirmed,
        protected,
        left,
        after,
        empty,
        rebuilt,
        stacks,
        kept,
        late,
        late_left,
        met_late,
    )
    return Operated(*seen, inventory(account, HOME))


def write_late(account: Account) -> None:
    """What services write after their deletion, into groups that they make again: without a tag, kept for ever."""
    logs = account.client("logs", HOME)
    for name in LATE:
        with suppress(logs.exceptions.ResourceAlreadyExistsException):
            logs.create_log_group(logGroupName=name)


def kill_teardowns(door: Door, empty: set[str]) -> tuple[Outcome, list[Outcome]]:
    """One that nobody disturbs, to know how many requests it makes; then those that are killed at one of them."""

    def work() -> None:
        teardown(lake_of("dev"), False, quiet, yes)

    def look() -> list[str]:
        return sorted(inventory(door.account, HOME) - empty)

    undisturbed = killed_at(door, NEVER, work, look)
    points = random.Random(SEED).sample(range(1, undisturbed.requests + 1), KILLS)
    return undisturbed, [killed_at(door, point, work, look) for point in sorted(points)]
