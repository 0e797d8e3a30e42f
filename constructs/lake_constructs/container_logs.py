"""Container logs in CloudWatch, and the failures that are counted in them."""

import json

from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_eks as eks_resources
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from constructs import Construct

from lake_constructs.log_group import LogSettings
from lake_constructs.metrics import NAMESPACE
from lake_constructs.pod_role import PodRole
from lake_constructs.service_log_group import ServiceLogGroup

# A Connect worker logs this when it gives up a task.
TASK_FAILED = "Task is being killed and will not recover until manually restarted"
# prepare.sh of the chart source-database prints this at the end of a failed run.
UNPREPARED = "the source is not prepared"
AGENT = "cloudwatch-agent"
AGENT_NAMESPACE = "amazon-cloudwatch"
# The groups in which the add-on writes logs, and the one of Container Insights.
LOGS, PERFORMANCE = ("application", "dataplane", "host"), "performance"


def log_group_name(cluster: str, name: str = "application") -> str:
    """Where the add-on of CloudWatch writes the logs of a cluster."""
    return f"/aws/containerinsights/{cluster}/{name}"


class CountedFailures(Construct):
    """What logs say of failures, as metrics of this lake. prepared: the group of the preparation, if it has its own."""

    def __init__(
        self, scope: Construct, id: str, *, group: logs.ILogGroup, lake: str, prepared: logs.ILogGroup | None = None
    ) -> None:
        super().__init__(scope, id)
        self.tasks = self._count("FailedTasks", group, TASK_FAILED, lake)
        self.preparations = self._count("FailedPreparations", prepared or group, UNPREPARED, lake)

    def _count(self, id: str, group: logs.ILogGroup, text: str, lake: str) -> cloudwatch.Metric:
        found = logs.MetricFilter(
            self,
            id,
            log_group=group,
            metric_namespace=NAMESPACE,
            metric_name=f"{id}-{lake}",
            filter_pattern=logs.FilterPattern.literal(f'"{text}"'),
            default_value=0,
        )
        return found.metric(statistic="Sum")


class ContainerLogs(Construct):
    """AWS's agent as an add-on. Its log groups are created first, so that they are encrypted and expire.

    insights: the metrics of Container Insights too, each of which costs. application: the group of the pods' logs.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster: eks.Cluster,
        cluster_name: str,
        log_settings: LogSettings,
        insights: bool,
    ) -> None:
        super().__init__(scope, id)
        groups = {
            name: ServiceLogGroup(
                self, name.capitalize(), settings=log_settings, name=log_group_name(cluster_name, name)
            )
            for name in (*LOGS, *([PERFORMANCE] if insights else []))
        }
        self.application: logs.ILogGroup = groups["application"]
        role = PodRole(self, "Agent", cluster=cluster, namespace=AGENT_NAMESPACE, service_account=AGENT, statements=[])
        role.add_managed_policy(iam.ManagedPolicy.from_aws_managed_policy_name("CloudWatchAgentServerPolicy"))
        self.addon = eks_resources.CfnAddon(
            self,
            "AddOn",
            addon_name="amazon-cloudwatch-observability",
            cluster_name=cluster.cluster_name,
            resolve_conflicts="OVERWRITE",
            configuration_values=json.dumps(
                {"containerInsights": {"enabled": insights}, "applicationSignals": {"enabled": False}}
            ),
        )
        self.addon.node.add_dependency(*groups.values(), role)
