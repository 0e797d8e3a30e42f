"""A lake whose connectors run on MSK Connect: deployed, operated, changed, torn down; played once."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from botocore.exceptions import ClientError

from lake.aws.environment import load_aws_environment
from lake.config.definition import load_databases
from lake.deployments.aws import AwsDeployment
from lake.deployments.deployment import Resource
from lake.deployments.teardown import teardown
from tests.emulated_account.account import Account
from tests.emulated_account.command import ROOT, Cdk, Done
from tests.emulated_account.inventory import inventory
from tests.emulated_account.operator import as_operator, quiet, yes
from tests.emulated_account.sight import statuses
from tests.emulated_account.story import HOME, succeeded
from tests.synth.synthesis import Synthesized, changed, synthesize

NAME = "managed"


@dataclass(frozen=True)
class Managed:
    """What was seen."""

    stacks: dict[str, str]
    same: Done
    connectors: dict[str, dict[str, Any]]
    tasks: list[str]
    restarted: dict[str, Any]
    sizes: dict[str, Any]
    refused: str
    left: list[Resource]
    remains: set[str]


def be_managed(account: Account, folder: Path) -> Managed:
    cdk = Cdk(account, HOME)
    succeeded(cdk.bootstrap())
    before = inventory(account, HOME)
    lake = described(folder / "first", {})
    succeeded(cdk.deploy(lake.folder))
    stacks, same = statuses(account, HOME, f"lake-{NAME}"), cdk.diff(lake.folder)
    connectors = by_name(account)
    tasks = [one["taskDefinitionArn"].rpartition("/")[2] for one in account.ecs.tasks.values()]
    with as_operator(account):
        deployment = AwsDeployment(load_aws_environment(folder / "first", NAME), load_databases(ROOT))
        restarted = deployment.connectors(load_databases(ROOT), quiet)("restart")
        succeeded(cdk.deploy(described(folder / "second", {"units": 2}).folder))
        sizes = {arn: one["capacity"] for arn, one in account.kafka_connect.connectors.items()}
        refused = renewed(account)
        left = teardown(deployment, False, quiet, yes)
    seen = (stacks, same, connectors, tasks, restarted, sizes, refused, left)
    return Managed(*seen, inventory(account, HOME) - before)


def by_name(account: Account) -> dict[str, dict[str, Any]]:
    """The connectors, each with its ARN."""
    return {one["connectorName"]: {**one, "arn": arn} for arn, one in account.kafka_connect.connectors.items()}


def renewed(account: Account) -> str:
    """What MSK Connect says to the replacement of a connector, which would be a second one of the same name."""
    (connector,) = account.kafka_connect.connectors.values()
    wish = {key: value for key, value in connector.items() if key != "currentVersion"}
    try:
        account.client("kafkaconnect", HOME).create_connector(**{**wish, "kafkaConnectVersion": "2.7.1"})
    except ClientError as error:
        return str(error)
    return ""


def described(folder: Path, connect: dict[str, Any]) -> Synthesized:
    content = {**changed("dev", {"connect": {"kind": "msk_connect", **connect}}), "name": NAME}
    (folder / "environments").mkdir(parents=True)
    (folder / f"environments/{NAME}.yaml").write_text(yaml.safe_dump(content))
    return synthesize(NAME, folder)
