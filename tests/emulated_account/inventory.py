"""Everything that stands in a region of the account, by the answers of its own APIs."""

from collections.abc import Callable
from typing import Any

from tests.emulated_account.account import Account
from tests.emulated_account.clients import ACCOUNT

Names = Callable[[Any], list[str]]
GONE_NAT = ("deleted", "deleting")


def inventory(account: Account, region: str) -> set[str]:
    """As "service/type/name", less what an account has from its beginning."""
    return {
        f"{service}/{kind}/{name}"
        for (service, kind), names in KINDS.items()
        for name in names(account.client(service, region))
    }


def of_kind(found: set[str], kind: str) -> list[str]:
    """The names of one kind, as "s3/bucket"."""
    return sorted(one.removeprefix(f"{kind}/") for one in found if one.startswith(f"{kind}/"))


def _vpcs(ec2: Any) -> list[str]:
    return [one["VpcId"] for one in ec2.describe_vpcs()["Vpcs"] if not one["IsDefault"]]


def _groups(ec2: Any) -> list[str]:
    return [one["GroupId"] for one in ec2.describe_security_groups()["SecurityGroups"] if one["GroupName"] != "default"]


def _nats(ec2: Any) -> list[str]:
    found = ec2.describe_nat_gateways()["NatGateways"]
    return [one["NatGatewayId"] for one in found if one["State"] not in GONE_NAT]


def _endpoints(ec2: Any) -> list[str]:
    found = ec2.describe_vpc_endpoints()["VpcEndpoints"]
    return [one["VpcEndpointId"] for one in found if one["State"] not in GONE_NAT]


def _peerings(ec2: Any) -> list[str]:
    found = ec2.describe_vpc_peering_connections()["VpcPeeringConnections"]
    return [one["VpcPeeringConnectionId"] for one in found if one["Status"]["Code"] not in GONE_NAT]


def _keys(kms: Any) -> list[str]:
    """A key that waits for its deletion is gone; AWS's own keys are nobody's."""
    ids = [one["KeyId"] for one in kms.list_keys()["Keys"]]
    found = [kms.describe_key(KeyId=id)["KeyMetadata"] for id in ids]
    return [one["KeyId"] for one in found if one["KeyManager"] == "CUSTOMER" and one["KeyState"] == "Enabled"]


def _tasks(ecs: Any) -> list[str]:
    """ECS keeps a cluster that was deleted for a while."""
    found = ecs.describe_clusters(clusters=ecs.list_clusters()["clusterArns"])["clusters"]
    return [one["clusterName"] for one in found if one["status"] == "ACTIVE"]


def _emr(emr: Any) -> list[str]:
    states = ["STARTING", "BOOTSTRAPPING", "RUNNING", "WAITING"]
    return [one["Id"] for one in emr.list_clusters(ClusterStates=states)["Clusters"]]


def _policies(iam: Any) -> list[str]:
    pages = iam.get_paginator("list_policies").paginate(Scope="Local")
    return [one["PolicyName"] for page in pages for one in page["Policies"]]


def _roles(iam: Any) -> list[str]:
    return [one["RoleName"] for page in iam.get_paginator("list_roles").paginate() for one in page["Roles"]]


def _layers(functions: Any) -> list[str]:
    return [one["LayerName"] for one in functions.list_layers()["Layers"]]


def _scaled(scaling: Any) -> list[str]:
    return [one["ResourceId"] for one in scaling.describe_scalable_targets(ServiceNamespace="kafka")["ScalableTargets"]]


def _budgets(budgets: Any) -> list[str]:
    return [one["BudgetName"] for one in budgets.describe_budgets(AccountId=ACCOUNT)["Budgets"]]


def _list(method: str, key: str, name: str = "") -> Names:
    """The names in a list that one call gives."""

    def names(client: Any) -> list[str]:
        pages = client.get_paginator(method).paginate() if client.can_paginate(method) else [getattr(client, method)()]
        found = [one for page in pages for one in page[key]]
        return [str(one[name]) if name else str(one) for one in found]

    return names


KINDS: dict[tuple[str, str], Names] = {
    ("athena", "query"): _list("list_named_queries", "NamedQueryIds"),
    ("athena", "work-group"): lambda athena: [
        one["Name"] for one in athena.list_work_groups()["WorkGroups"] if one["Name"] != "primary"
    ],
    ("application-autoscaling", "target"): _scaled,
    ("budgets", "budget"): _budgets,
    ("cloudformation", "stack"): _list("describe_stacks", "Stacks", "StackName"),
    ("cloudwatch", "alarm"): _list("describe_alarms", "MetricAlarms", "AlarmName"),
    ("cloudwatch", "dashboard"): _list("list_dashboards", "DashboardEntries", "DashboardName"),
    ("ec2", "address"): _list("describe_addresses", "Addresses", "AllocationId"),
    ("ec2", "endpoint"): _endpoints,
    ("ec2", "flow-log"): _list("describe_flow_logs", "FlowLogs", "FlowLogId"),
    ("ec2", "group"): _groups,
    ("ec2", "internet-gateway"): _list("describe_internet_gateways", "InternetGateways", "InternetGatewayId"),
    ("ec2", "nat"): _nats,
    ("ec2", "peering"): _peerings,
    ("ec2", "vpc"): _vpcs,
    ("ecs", "cluster"): _tasks,
    ("eks", "cluster"): _list("list_clusters", "clusters"),
    ("elbv2", "balancer"): _list("describe_load_balancers", "LoadBalancers", "LoadBalancerName"),
    ("elbv2", "targets"): _list("describe_target_groups", "TargetGroups", "TargetGroupName"),
    ("emr", "cluster"): _emr,
    ("emr-serverless", "application"): _list("list_applications", "applications", "name"),
    ("emr", "security"): _list("list_security_configurations", "SecurityConfigurations", "Name"),
    ("events", "rule"): _list("list_rules", "Rules", "Name"),
    ("glue", "database"): _list("get_databases", "DatabaseList", "Name"),
    ("iam", "policy"): _policies,
    ("iam", "profile"): _list("list_instance_profiles", "InstanceProfiles", "InstanceProfileName"),
    ("iam", "role"): _roles,
    ("kafka", "cluster"): _list("list_clusters_v2", "ClusterInfoList", "ClusterName"),
    ("kafka", "configuration"): _list("list_configurations", "Configurations", "Arn"),
    ("kafkaconnect", "connector"): _list("list_connectors", "connectors", "connectorName"),
    ("kafkaconnect", "plugin"): _list("list_custom_plugins", "customPlugins", "name"),
    ("kafkaconnect", "worker"): _list("list_worker_configurations", "workerConfigurations", "name"),
    ("kms", "key"): _keys,
    ("lambda", "function"): _list("list_functions", "Functions", "FunctionName"),
    ("lambda", "layer"): _layers,
    ("logs", "group"): _list("describe_log_groups", "logGroups", "logGroupName"),
    ("logs", "filter"): _list("describe_metric_filters", "metricFilters", "filterName"),
    ("rds", "instance"): _list("describe_db_instances", "DBInstances", "DBInstanceIdentifier"),
    ("rds", "parameters"): _list("describe_db_parameter_groups", "DBParameterGroups", "DBParameterGroupName"),
    ("rds", "snapshot"): _list("describe_db_snapshots", "DBSnapshots", "DBSnapshotIdentifier"),
    ("rds", "subnets"): _list("describe_db_subnet_groups", "DBSubnetGroups", "DBSubnetGroupName"),
    ("s3", "bucket"): _list("list_buckets", "Buckets", "Name"),
    ("secretsmanager", "secret"): _list("list_secrets", "SecretList", "Name"),
    ("sns", "topic"): _list("list_topics", "Topics", "TopicArn"),
    ("ssm", "parameter"): _list("describe_parameters", "Parameters", "Name"),
}


def late(environment: str) -> set[str]:
    """What EKS and RDS make again after the stacks are gone; RDS's group for the metrics of hosts is the account's."""
    groups = (
        f"/aws/eks/lake-{environment}/cluster",
        f"/aws/rds/instance/lake-{environment}/postgresql",
        "RDSOSMetrics",
    )
    return {f"logs/group/{name}" for name in groups}
