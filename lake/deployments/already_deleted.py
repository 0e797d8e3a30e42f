"""Resources that AWS still lists after their deletion: keys with a waiting period, gateways, clusters, tasks."""

from typing import Any

from botocore.exceptions import ClientError

from lake.deployments.account import Account
from lake.deployments.application import Application
from lake.deployments.cluster import Cluster

ACTIVE = "ACTIVE"
ENDED = ("deleted", "deleting", "terminated", "shutting-down")


def is_already_deleted(account: Account, arn: str) -> bool:
    """True if the resource of this ARN costs and does nothing any more. stacks.py checks the stacks."""
    service, kind, name = arn.split(":")[2], arn.split(":")[5].partition("/")[0], arn.rpartition("/")[2]
    if service == "kms":
        return str(account.client("kms").describe_key(KeyId=name)["KeyMetadata"]["KeyState"]) == "PendingDeletion"
    if (service, kind) == ("elasticmapreduce", "cluster"):
        return Cluster(account, name).state() not in Cluster.alive
    if service == "emr-serverless":  # an application, or one of its job runs: /applications/<id>/jobruns/<id>
        return Application(account, arn.split("/")[2]).state() not in Application.alive
    if service == "ecs":
        return _inactive(account.client("ecs"), kind, arn)
    if service == "ec2":
        return _ended(account, kind, name)
    return service == "cloudformation"


def _ended(account: Account, kind: str, name: str) -> bool:
    ec2 = account.client("ec2")
    try:
        if kind == "natgateway":
            state = ec2.describe_nat_gateways(NatGatewayIds=[name])["NatGateways"][0]["State"]
        elif kind == "vpc-endpoint":
            state = ec2.describe_vpc_endpoints(VpcEndpointIds=[name])["VpcEndpoints"][0]["State"]
        elif kind == "instance":
            state = ec2.describe_instances(InstanceIds=[name])["Reservations"][0]["Instances"][0]["State"]["Name"]
        else:
            return False
    except (ClientError, IndexError):
        return True  # unknown to AWS
    return state in ENDED


def _inactive(ecs: Any, kind: str, arn: str) -> bool:
    """ECS keeps clusters and services that were deleted for a while, and revisions of task definitions for good."""
    try:
        if kind == "task-definition":
            found = [ecs.describe_task_definition(taskDefinition=arn)["taskDefinition"]]
        elif kind == "service":
            found = ecs.describe_services(cluster=arn.split("/")[1], services=[arn])["services"]
        else:
            found = ecs.describe_clusters(clusters=[arn])["clusters"]
    except ClientError:
        return True  # unknown to AWS, or its cluster is
    return all(one["status"] != ACTIVE for one in found)
