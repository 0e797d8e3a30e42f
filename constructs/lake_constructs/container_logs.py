"""Container logs in CloudWatch, and the failures that are counted in them."""

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

# A Connect worker logs this when it gives a task up.
TASK_FAILED = "Task is being killed and will not recover until manually restarted"
# prepare.sh of the chart source-database prints this at the end of a failed run.
UNPREPARED = "the source is not prepared"
PARTS = ("application", "dataplane", "host", "performance")  # one log group each
AGENT = "cloudwatch-agent"
AGENT_NAMESPACE = "amazon-cloudwatch"


class ContainerLogs(Construct):
    """AWS's agents as an add-on: logs, and the metrics of Container Insights."""

    def __init__(
        self, scope: Construct, id: str, *, cluster: eks.Cluster, cluster_name: str, log_settings: LogSettings
    ) -> None:
        super().__init__(scope, id)
        groups = {
            part: ServiceLogGroup(
                self, part.capitalize(), settings=log_settings, name=f"/aws/containerinsights/{cluster_name}/{part}"
            )
            for part in PARTS
        }
        group = groups["application"]
        role = PodRole(self, "Agent", cluster=cluster, namespace=AGENT_NAMESPACE, service_account=AGENT, statements=[])
        role.add_managed_policy(iam.ManagedPolicy.from_aws_managed_policy_name("CloudWatchAgentServerPolicy"))
        addon = eks_resources.CfnAddon(
            self,
            "AddOn",
            addon_name="amazon-cloudwatch-observability",
            cluster_name=cluster.cluster_name,
            resolve_conflicts="OVERWRITE",
        )
        addon.node.add_dependency(*groups.values(), role)
        self.failed_tasks = self._count("FailedTasks", group, TASK_FAILED, cluster_name)
        self.failed_preparations = self._count("FailedPreparations", group, UNPREPARED, cluster_name)

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
