"""Container logs in CloudWatch, and the failures that are counted in them."""

import json

from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_eks as eks_resources
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from constructs import Construct

from lake_constructs.log_group import EncryptedLogGroup, LogSettings
from lake_constructs.metrics import NAMESPACE
from lake_constructs.pod_role import PodRole

# A Connect worker logs this when it gives up a task.
TASK_FAILED = "Task is being killed and will not recover until manually restarted"
# prepare.sh of the chart source-database prints this at the end of a failed run.
UNPREPARED = "the source is not prepared"
AGENT = "cloudwatch-agent"
AGENT_NAMESPACE = "amazon-cloudwatch"
# The groups in which the add-on writes logs, and the one of Container Insights.
LOGS, PERFORMANCE = ("application", "dataplane", "host"), "performance"


class ContainerLogs(Construct):
    """AWS's agent as an add-on. Its log groups are created first, so that they are encrypted and expire.

    insights: the metrics of Container Insights too, each of which costs.
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
        place = f"/aws/containerinsights/{cluster_name}"
        groups = {
            name: EncryptedLogGroup(self, name.capitalize(), settings=log_settings, name=f"{place}/{name}")
            for name in (*LOGS, *([PERFORMANCE] if insights else []))
        }
        role = PodRole(self, "Agent", cluster=cluster, namespace=AGENT_NAMESPACE, service_account=AGENT, statements=[])
        role.add_managed_policy(iam.ManagedPolicy.from_aws_managed_policy_name("CloudWatchAgentServerPolicy"))
        addon = eks_resources.CfnAddon(
            self,
            "AddOn",
            addon_name="amazon-cloudwatch-observability",
            cluster_name=cluster.cluster_name,
            resolve_conflicts="OVERWRITE",
            configuration_values=json.dumps(
                {"containerInsights": {"enabled": insights}, "applicationSignals": {"enabled": False}}
            ),
        )
        addon.node.add_dependency(*groups.values(), role)
        self.addon, application = addon, groups["application"]
        self.failed_tasks = self._count("FailedTasks", application, TASK_FAILED, cluster_name)
        self.failed_preparations = self._count("FailedPreparations", application, UNPREPARED, cluster_name)

    def _count(self, id: str, group: logs.ILogGroup, text: str, cluster_name: str) -> cloudwatch.Metric:
        found = logs.MetricFilter(
            self,
            id,
            log_group=group,
            metric_namespace=NAMESPACE,
            metric_name=f"{id}-{cluster_name}",
            filter_pattern=logs.FilterPattern.literal(f'"{text}"'),
            default_value=0,
        )
        return found.metric(statistic="Sum")
