"""Log groups that services make: a stack's own must come first, and a group may be back after the stack is gone."""

from typing import Any

import pytest

from tests.emulated_account.account import Account
from tests.emulated_account.small_stacks import REGION, Resource, SmallStacks, resource

pytestmark = pytest.mark.account

ASSUMED = {"Version": "2012-10-17", "Statement": []}
KUBERNETES_LOG = "/aws/eks/logged/cluster"
DATABASE_LOG = "/aws/rds/instance/logged/postgresql"
INSIGHTS = "/aws/containerinsights/logged"


@pytest.fixture(autouse=True)
def no_groups(account: Account) -> Any:
    yield
    for name in groups(account):
        account.client("logs", REGION).delete_log_group(logGroupName=name)


def groups(account: Account) -> set[str]:
    return {one["logGroupName"] for one in account.client("logs", REGION).describe_log_groups()["logGroups"]}


def kubernetes(account: Account, **more: Any) -> Resource:
    subnets = account.client("ec2", REGION).describe_subnets()["Subnets"]
    place = {"SubnetIds": [one["SubnetId"] for one in subnets]}
    types = {"ClusterLogging": {"EnabledTypes": [{"Type": "audit"}]}}
    role = "arn:aws:iam::123456789012:role/any"
    made = resource("AWS::EKS::Cluster", Name="logged", RoleArn=role, ResourcesVpcConfig=place, Logging=types)
    return {**made, **more}


def database(**more: Any) -> Resource:
    login = {"MasterUsername": "admin1", "MasterUserPassword": "of-a-test-only"}
    size = {"Engine": "postgres", "DBInstanceClass": "db.t4g.small", "AllocatedStorage": "20"}
    logged = {"DBInstanceIdentifier": "logged", "EnableCloudwatchLogsExports": ["postgresql"]}
    return {**resource("AWS::RDS::DBInstance", **login, **size, **logged), "DeletionPolicy": "Delete", **more}


def group(name: str) -> Resource:
    return resource("AWS::Logs::LogGroup", LogGroupName=name, RetentionInDays=7)


def test_eks_and_rds_make_the_groups_that_nobody_made(account: Account, stacks: SmallStacks) -> None:
    assert stacks.deploy("logged", Kubernetes=kubernetes(account), Source=database()) == "CREATE_COMPLETE"
    assert groups(account) == {KUBERNETES_LOG, DATABASE_LOG}
    stacks.delete("logged")


def test_a_group_that_a_service_made_first_is_in_the_way(account: Account, stacks: SmallStacks) -> None:
    log = {**group(KUBERNETES_LOG), "DependsOn": "Kubernetes"}
    assert stacks.deploy("late", Kubernetes=kubernetes(account), Log=log) == "ROLLBACK_COMPLETE"
    assert "already exists" in stacks.reason("late")
    stacks.delete("late")


def test_a_group_is_made_again_after_its_stack_and_is_in_the_way_of_the_next(
    account: Account, stacks: SmallStacks
) -> None:
    logs = {"KubernetesLog": group(KUBERNETES_LOG), "SourceLog": group(DATABASE_LOG)}
    cluster, source = kubernetes(account, DependsOn="KubernetesLog"), database(DependsOn="SourceLog")
    assert stacks.deploy("again", **logs, Kubernetes=cluster, Source=source) == "CREATE_COMPLETE"
    stacks.delete("again")
    assert groups(account) == {KUBERNETES_LOG, DATABASE_LOG}
    left = account.client("logs", REGION).describe_log_groups()["logGroups"]
    assert [one.get("retentionInDays") for one in left] == [None, None]
    assert stacks.deploy("again", **logs, Kubernetes=cluster, Source=source) == "ROLLBACK_COMPLETE"
    assert "already exists" in stacks.reason("again")
    stacks.delete("again")


@pytest.mark.parametrize(
    ("values", "made"),
    [
        (None, {"application", "dataplane", "host", "performance"}),
        ('{"containerLogs": {"enabled": false}}', {"performance"}),
        ('{"containerInsights": {"enabled": false}}', {"application", "dataplane", "host"}),
    ],
)
def test_the_agents_of_the_add_on_make_groups(
    account: Account, stacks: SmallStacks, values: str | None, made: set[str]
) -> None:
    settings = {"ConfigurationValues": values} if values else {}
    cluster = {"Ref": "Kubernetes"}
    addon = resource("AWS::EKS::Addon", AddonName="amazon-cloudwatch-observability", ClusterName=cluster, **settings)
    quiet = kubernetes(account)
    del quiet["Properties"]["Logging"]
    assert stacks.deploy("insights", Kubernetes=quiet, Addon=addon) == "CREATE_COMPLETE"
    assert groups(account) == {f"{INSIGHTS}/{name}" for name in made}
    stacks.delete("insights")
