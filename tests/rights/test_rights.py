"""No call without a right, and no right without a call: calls of programs, judged by the policies of the stacks."""

import copy
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from iam.roles import Account
from tests.rights.handlers import handlers
from tests.rights.judge import Call, Judge
from tests.rights.lakes import LAKES
from tests.rights.recorded import Recorded, record

# Roles with policies of ours, as far as a lake has them.
OURS = (
    *("Nodes", "Service", "ConnectRole", "RequesterRole", "RegistryRole", "PreparationRole", "RestartsRole"),
    *("HookRole", "RightsRole", "JobRole", "JobRunsRole", "ReportsRole"),
    *("MskConnectRole", "PreparationTaskRole", "PreparationExecutionRole", "RegistryTaskTaskRole"),
    *("RegistryTaskExecutionRole", "PreparedRole", "LakeFormationRole"),
)
# The CDK writes their policies; that of KubernetesRole is for calls of EKS alone (cluster_nodes.py names its source).
OF_OTHERS = (
    *("KubernetesKubectlProviderHandlerServiceRole", "KubernetesKubectlProviderframeworkonEventServiceRole"),
    *("KubernetesRole", "PreparationEventsRole", "SourceVpcFlowLogIAMRole", "VpcFlowLogIAMRole"),
)


@pytest.fixture(scope="module", params=LAKES)
def recorded(request: pytest.FixtureRequest) -> Recorded:
    return record(request.param)


def test_every_program_ends_well(recorded: Recorded) -> None:
    assert recorded.failed == []


def test_every_role_is_judged(recorded: Recorded) -> None:
    judged = {*OURS, *OF_OTHERS, *handlers(recorded.account)}
    assert {name for name, role in recorded.account.roles.items() if role.policies} - judged == set()


def test_no_call_is_without_a_right(recorded: Recorded, evaluator: Judge) -> None:
    verdicts = evaluator.of(recorded.account).may(recorded.calls)
    judged = zip(recorded.calls, verdicts, strict=True)
    assert [(call, verdict.reason) for call, verdict in judged if not verdict.allowed] == []


def test_every_statement_action_and_resource_is_missed(recorded: Recorded, evaluator: Judge) -> None:
    assert unmissed(recorded, evaluator) == []


def unmissed(recorded: Recorded, evaluator: Judge) -> list[str]:
    """What can be taken out of a policy without any call being refused that it allowed before."""
    verdicts = evaluator.of(recorded.account).may(recorded.calls)
    judged = list(zip(recorded.calls, verdicts, strict=True))
    return [
        what
        for role in [*(one for one in OURS if one in recorded.account.roles), *handlers(recorded.account)]
        for what, statements, less in lessened(recorded.account, role)
        if not is_missed(
            [call for call, verdict in judged if call.role == role and statements & {*verdict.by}], less, evaluator
        )
    ]


def is_missed(calls: list[Call], less: Account, evaluator: Judge) -> bool:
    evaluator.of(less)
    return any(not verdict.allowed for call in calls for verdict in evaluator.may([call]))


Place = tuple[str, int]  # of a statement: its policy, and its number there


def lessened(account: Account, role: str) -> Iterator[tuple[str, set[str], Account]]:
    """What was taken out, its statements as verdicts name them, and the account less it.

    What is taken out is a statement, a resource of one, or an action of all pieces of one.
    """
    found = {
        (policy, at): statement
        for policy, document in account.roles[role].policies.items()
        for at, statement in enumerate(document["Statement"])
    }
    for place, statement in found.items():
        text, pieces = f"{role} {describe(statement)}", [one for one in found if same(found[one], statement)]
        yield text, named(found, [place]), without(account, role, [place])
        for value in several(statement["Resource"]):
            yield f"{text} / {value}", named(found, [place]), without(account, role, [place], "Resource", value)
        for value in set(several(statement["Action"])) if place == pieces[0] else ():
            yield f"{text} / {value}", named(found, pieces), without(account, role, pieces, "Action", value)


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Pieces of one statement: a policy that is too long is split, and so are the resources of a statement."""
    return all(one.get(part) == other.get(part) for part in ("Effect", "Action", "Condition"))


def several(values: Any) -> list[str]:
    """None if there is only one: it goes with its statement."""
    return values if isinstance(values, list) else []


def named(found: dict[Place, dict[str, Any]], places: list[Place]) -> set[str]:
    return {f"{policy}/{found[policy, at].get('Sid', at + 1)}" for policy, at in places}


def without(account: Account, role: str, places: list[Place], part: str = "", value: str = "") -> Account:
    """Only this role: the evaluator reads the account anew each time, and is asked about no other role."""
    less = replace(account, roles={role: copy.deepcopy(account.roles[role])})
    for policy, at in places:
        statements = less.roles[role].policies[policy]["Statement"]
        if part:
            statements[at][part] = [one for one in statements[at][part] if one != value]
        else:
            del statements[at]
    return less


def describe(statement: dict[str, Any]) -> str:
    actions = statement["Action"]
    return actions if isinstance(actions, str) else f"{actions[0]} and {len(actions) - 1} more"


def test_a_call_that_nobody_allowed_is_found(evaluator: Judge) -> None:
    dev = record("dev")
    (verdict,) = evaluator.of(dev.account).may([Call("Nodes", "s3:GetObject", "arn:aws:s3:::of-somebody-else/x")])
    assert not verdict.allowed
