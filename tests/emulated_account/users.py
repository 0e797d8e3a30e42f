"""A lake whose clients log in to Kafka by name and password: deployed, torn down, deployed again; played once."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from lake.aws.environment import load_aws_environment
from lake.config.definition import load_databases
from lake.deployments.aws import AwsDeployment
from lake.deployments.deployment import Resource
from lake.deployments.teardown import teardown
from tests.emulated_account.account import Account
from tests.emulated_account.command import ROOT, Cdk, Done
from tests.emulated_account.inventory import inventory, late
from tests.emulated_account.operator import as_operator, quiet, yes
from tests.emulated_account.sight import statuses
from tests.emulated_account.story import HOME, succeeded
from tests.synth.synthesis import changed, synthesize

NAME = "users"


@dataclass(frozen=True)
class Users:
    """What was seen."""

    stacks: dict[str, str]
    same: Done
    secrets: list[str]
    values: dict[str, Any]
    left: list[Resource]
    remains: set[str]
    again: Done


def be_users(account: Account, folder: Path) -> Users:
    cdk = Cdk(account, HOME)
    (folder / "environments").mkdir()
    content = {**changed("dev", {"streaming.auth": "scram"}), "name": NAME}
    (folder / f"environments/{NAME}.yaml").write_text(yaml.safe_dump(content))
    lake = synthesize(NAME, folder)
    succeeded(cdk.bootstrap())
    before = inventory(account, HOME)
    succeeded(cdk.deploy(lake.folder))
    stacks, same = statuses(account, HOME, f"lake-{NAME}"), cdk.diff(lake.folder)
    secrets, values = associated(account), dict(account.release(HOME, f"lake-{NAME}", "kafka-connect").values)
    with as_operator(account):
        deployment = AwsDeployment(load_aws_environment(folder, NAME), load_databases(ROOT))
        left = teardown(deployment, False, quiet, yes)
        remains = inventory(account, HOME) - before - late(NAME)
        again = cdk.deploy(lake.folder)
        teardown(deployment, False, quiet, yes)
    return Users(stacks, same, secrets, values, left, remains, again)


def associated(account: Account) -> list[str]:
    """The names of the secrets that the cluster reads."""
    kafka, secrets = account.client("kafka", HOME), account.client("secretsmanager", HOME)
    (cluster,) = [
        one["ClusterArn"] for one in kafka.list_clusters_v2()["ClusterInfoList"] if one["ClusterName"] == f"lake-{NAME}"
    ]
    arns = kafka.list_scram_secrets(ClusterArn=cluster)["SecretArnList"]
    return sorted(secrets.describe_secret(SecretId=arn)["Name"] for arn in arns)
