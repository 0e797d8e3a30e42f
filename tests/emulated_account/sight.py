"""One environment as boto3 sees it at one moment: all that the tests ask about, kept for after its destruction."""

import json
from dataclasses import dataclass
from typing import Any

from tests.emulated_account.account import Account
from tests.emulated_account.helm import Release

Answer = dict[str, Any]


@dataclass(frozen=True)
class Sight:
    """Answers of the services, by what they are about."""

    stacks: dict[str, str]  # status by name
    database: Answer
    parameters: dict[str, str]
    secrets: dict[str, Answer]  # by user name
    kafka: Answer
    brokers: str
    kubernetes: Answer
    associations: list[Answer]
    releases: dict[str, Release]
    emr: Answer
    scaling: Answer
    steps: list[Answer]
    glue: list[str]
    work_group: Answer
    buckets: dict[str, str]  # role in the lake -> name


def look(account: Account, region: str, name: str) -> Sight:
    """All of lake-<name>."""
    lake, client = f"lake-{name}", lambda service: account.client(service, region)
    (database,) = client("rds").describe_db_instances(DBInstanceIdentifier=lake)["DBInstances"]
    kafka = _kafka(client("kafka"), lake)
    emr = _emr(client("emr"), lake)
    return Sight(
        stacks=statuses(account, region, lake),
        database=database,
        parameters=_parameters(client("rds"), database["DBParameterGroups"][0]["DBParameterGroupName"]),
        secrets=_secrets(client("secretsmanager")),
        kafka=kafka,
        brokers=client("kafka").get_bootstrap_brokers(ClusterArn=kafka["ClusterArn"])["BootstrapBrokerStringSaslIam"],
        kubernetes=client("eks").describe_cluster(name=lake)["cluster"],
        associations=client("eks").list_pod_identity_associations(clusterName=lake)["associations"],
        releases={key[2]: one for key, one in account.world.releases.items() if key[:2] == (region, lake)},
        emr=emr,
        scaling=client("emr").get_managed_scaling_policy(ClusterId=emr["Id"])["ManagedScalingPolicy"],
        steps=client("emr").list_steps(ClusterId=emr["Id"])["Steps"],
        glue=sorted(one["Name"] for one in client("glue").get_databases()["DatabaseList"]),
        work_group=client("athena").get_work_group(WorkGroup=lake)["WorkGroup"],
        buckets=_buckets(client("cloudformation"), f"{lake}-storage"),
    )


def statuses(account: Account, region: str, prefix: str) -> dict[str, str]:
    found = account.client("cloudformation", region).describe_stacks()["Stacks"]
    return {one["StackName"]: one["StackStatus"] for one in found if one["StackName"].startswith(prefix)}


def _kafka(kafka: Any, lake: str) -> Answer:
    (found,) = [one for one in kafka.list_clusters_v2()["ClusterInfoList"] if one["ClusterName"] == lake]
    return dict(kafka.describe_cluster_v2(ClusterArn=found["ClusterArn"])["ClusterInfo"])


def _emr(emr: Any, lake: str) -> Answer:
    states = ["STARTING", "BOOTSTRAPPING", "RUNNING", "WAITING"]
    (found,) = [one for one in emr.list_clusters(ClusterStates=states)["Clusters"] if one["Name"] == f"{lake}-1"]
    return dict(emr.describe_cluster(ClusterId=found["Id"])["Cluster"])


def _parameters(rds: Any, group: str) -> dict[str, str]:
    pages = rds.get_paginator("describe_db_parameters").paginate(DBParameterGroupName=group)
    found = [one for page in pages for one in page["Parameters"]]
    return {one["ParameterName"]: one["ParameterValue"] for one in found if "ParameterValue" in one}


def _secrets(secrets: Any) -> dict[str, Answer]:
    names = [one["ARN"] for one in secrets.list_secrets()["SecretList"]]
    found = [json.loads(secrets.get_secret_value(SecretId=name)["SecretString"]) for name in names]
    return {one["username"]: one for one in found}


def _buckets(cloudformation: Any, stack: str) -> dict[str, str]:
    found = cloudformation.describe_stack_resources(StackName=stack)["StackResources"]
    names = [one["PhysicalResourceId"] for one in found if one["ResourceType"] == "AWS::S3::Bucket"]
    return {name.removeprefix(f"{stack}-")[:6]: name for name in names}
