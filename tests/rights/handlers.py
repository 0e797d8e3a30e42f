"""The calls of the CDK's handler of Custom::AWS, which makes the one call that a template asks it for."""

import json
from collections.abc import Iterator
from typing import Any

from iam.roles import ACCOUNT, REGION, Account, Stacks
from tests.rights.judge import Call

KIND = "Custom::AWS"
HANDLER = "AWS679f53fac002430cb0da5b7982bd2287ServiceRole"  # the CDK's name, the same in each stack


def handlers(account: Account) -> list[str]:
    """The roles of the handlers, one in each stack that asks for a call."""
    return [name for name in account.roles if name.endswith(HANDLER)]


def called(stacks: Stacks, account: Account) -> Iterator[Call]:
    """What the handlers call while the stacks are created."""
    for stack, _, properties in stacks.of_type(KIND):
        role = next(one for one in handlers(account) if one in (HANDLER, f"{stack}/{HANDLER}"))
        yield Call(role, *right(json.loads(stacks.resolve(stack, properties["Create"]))), ())


def right(call: dict[str, Any]) -> tuple[str, str]:
    """The action and the resource of a call of the SDK, by the service authorization reference."""
    parameters = call["parameters"]
    match call["service"], call["action"]:
        case "Kafka", "getBootstrapBrokers":
            return "kafka:GetBootstrapBrokers", "*"  # no resource restricts it
        case "CloudWatchLogs", "deleteLogGroup":
            group = f"arn:aws:logs:{REGION}:{ACCOUNT}:log-group:{parameters['logGroupName']}"
            return "logs:DeleteLogGroup", f"{group}:*"
        case "LakeFormation", "revokePermissions":
            return "lakeformation:RevokePermissions", "*"  # no resource restricts it
    raise KeyError(f"the right for {call['service']}.{call['action']}: add it to tests/rights/handlers.py")
