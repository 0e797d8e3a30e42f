"""No call without a right, and no right without a call: calls of programs, judged by the policies of the stacks."""

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from iam.roles import Account
from tests.rights.handlers import handlers
from tests.rights.judge import Call, Judge
from tests.rights.recorded import Recorded, record
from tests.synth.synthesis import ENVIRONMENTS

# Roles with policies of ours; of the others, AWS and the CDK write the policies.
OURS = ("Nodes", "Service", "ConnectRole", "RequesterRole", "RegistryRole", "PreparationRole")


@pytest.fixture(scope="module", params=ENVIRONMENTS)
def recorded(request: pytest.FixtureRequest) -> Recorded:
    return record(request.param)


def test_every_program_ends_well(recorded: Recorded) -> None:
    assert recorded.failed == []


def test_no_call_is_without_a_right(recorded: Recorded, evaluator: Judge) -> None:
    verdicts = evaluator.of(recorded.account).may(recorded.calls)
    judged = zip(recorded.calls, verdicts, strict=True)
    assert [(call, verdict.reason) for call, verdict in judged if not verdict.allowed] == []


def test_every_statement_is_missed(recorded: Recorded, evaluator: Judge) -> None:
    assert [what for what in unmissed(recorded, evaluator) if "/" not in what] == []


def test_every_action_and_resource_is_missed(recorded: Recorded, evaluator: Judge) -> None:
    assert [what for what in unmissed(recorded, evaluator) if "/" in what] == []


def unmissed(recorded: Recorded, evaluator: Judge) -> list[str]:
    """What can be taken out of a policy without any call being refused that it allowed before."""
    verdicts = evaluator.of(recorded.account).may(recorded.calls)
    judged = list(zip(recorded.calls, verdicts, strict=True))
    return [
        what
        for role in [*OURS, *handlers(recorded.account)]
        for what, statement, less in lessened(recorded.account, role)
        if not is_missed(
            [call for call, verdict in judged if call.role == role and statement in verdict.by], less, evaluator
        )
    ]


def is_missed(calls: list[Call], less: Account, evaluator: Judge) -> bool:
    evaluator.of(less)
    return any(not verdict.allowed for call in calls for verdict in evaluator.may([call]))


def lessened(account: Account, role: str) -> Iterator[tuple[str, str, Account]]:
    """What was taken out, its statement as verdicts name it, and the account less one statement, action or resource."""
    for policy, document in account.roles[role].policies.items():
        for at, statement in enumerate(document["Statement"]):
            name, text = f"{policy}/{statement.get('Sid', at + 1)}", f"{role} {describe(statement)}"
            yield text, name, without(account, role, policy, at)
            for part in ("Action", "Resource"):
                values = statement[part] if isinstance(statement[part], list) else []
                for value in values:
                    rest = [one for one in values if one != value]
                    yield f"{text} / {value}", name, without(account, role, policy, at, {part: rest})


def without(account: Account, role: str, policy: str, at: int, change: dict[str, Any] | None = None) -> Account:
    less = copy.deepcopy(account)
    statements = less.roles[role].policies[policy]["Statement"]
    if change is None:
        del statements[at]
    else:
        statements[at].update(change)
    return less


def describe(statement: dict[str, Any]) -> str:
    actions = statement["Action"]
    return actions if isinstance(actions, str) else f"{actions[0]} and {len(actions) - 1} more"


def test_a_call_that_nobody_allowed_is_found(evaluator: Judge) -> None:
    dev = record("dev")
    (verdict,) = evaluator.of(dev.account).may([Call("Nodes", "s3:GetObject", "arn:aws:s3:::of-somebody-else/x")])
    assert not verdict.allowed
