"""Connectors that MSK Connect runs, each with a worker of its own."""

import hashlib
import json
from collections.abc import Mapping, Sequence

from aws_cdk import Aws, CfnCondition, CfnParameter, Fn, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kafkaconnect as kafkaconnect
from aws_cdk import aws_logs as logs
from constructs import Construct

from lake_constructs.kafka import Kafka
from lake_constructs.plugin_bundle import PluginBundle
from lake_constructs.statement_pieces import in_pieces

VERSION = "3.7.x"  # of Kafka Connect; the only one for Java 17
WANTED, YES, NO = "Connectors", "present", "absent"
OWN = "__amazon_msk_connect_*"  # topics and groups that MSK Connect names


class ManagedConnectors(Construct):
    """One plug-in, one configuration of workers, and connectors. name: of the lake.

    CloudFormation changes the settings of a connector. Anything else of it would be a second connector under the same
    name, which MSK refuses, on the same slot of the source. So the parameter Connectors of the stack takes the
    connectors away and brings them back; the topic of their offsets stays.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        name: str,
        kafka: Kafka,
        bundle: PluginBundle,
        worker: Mapping[str, str],
        statements: Sequence[iam.PolicyStatement],
        subnets: Sequence[ec2.ISubnet],
        group: ec2.ISecurityGroup,
        log_group: logs.ILogGroup,
        units: int,
    ) -> None:
        super().__init__(scope, id)
        self._kafka, self._subnets, self._group = kafka, subnets, group
        self._log_group, self._units = log_group, units
        self._role = execution_role(self, name, statements)
        wanted = CfnParameter(Stack.of(self), WANTED, default=YES, allowed_values=[YES, NO])
        self._wanted = CfnCondition(self, "Wanted", expression=Fn.condition_equals(wanted.value_as_string, YES))
        # Their names follow from their content: neither can be changed, and a new one may exist beside the old one.
        plugin = kafkaconnect.CfnCustomPlugin(
            self,
            "Plugin",
            name=f"{name}-{bundle.sha256[:16]}",
            content_type="ZIP",
            location={"s3Location": {"bucketArn": bundle.bucket.bucket_arn, "fileKey": bundle.s3_object_key}},
        )
        self._plugin = {"customPluginArn": plugin.attr_custom_plugin_arn, "revision": plugin.attr_revision}
        text = "".join(f"{key}={value}\n" for key, value in worker.items())
        settings = kafkaconnect.CfnWorkerConfiguration(
            self, "Worker", name=f"{name}-{fingerprint(self, text)}", properties_file_content=Fn.base64(text)
        )
        self._worker = {
            "workerConfigurationArn": settings.attr_worker_configuration_arn,
            "revision": settings.attr_revision,
        }

    def add(self, id: str, name: str, settings: Mapping[str, str]) -> kafkaconnect.CfnConnector:
        """A connector, whose name begins with that of the lake."""
        place = {"subnets": [one.subnet_id for one in self._subnets], "securityGroups": [self._group.security_group_id]}
        log = {"enabled": True, "logGroup": self._log_group.log_group_name}
        connector = kafkaconnect.CfnConnector(
            self,
            id,
            connector_name=name,
            connector_configuration=dict(settings),
            kafka_connect_version=VERSION,
            capacity={"provisionedCapacity": {"mcuCount": self._units, "workerCount": 1}},
            kafka_cluster={"apacheKafkaCluster": {"bootstrapServers": self._kafka.bootstrap_brokers, "vpc": place}},
            kafka_cluster_client_authentication={"authenticationType": "IAM"},
            kafka_cluster_encryption_in_transit={"encryptionType": "TLS"},
            log_delivery={"workerLogDelivery": {"cloudWatchLogs": log}},
            plugins=[{"customPlugin": self._plugin}],
            service_execution_role_arn=self._role.role_arn,
            worker_configuration=self._worker,
        )
        connector.cfn_options.condition = self._wanted
        connector.node.add_dependency(self._role)
        return connector


def restart_connectors(lake: str) -> list[iam.PolicyStatement]:
    """See the connectors of this lake, and restart them. A list knows no resource."""
    here = f"arn:{Aws.PARTITION}:kafkaconnect:{Aws.REGION}:{Aws.ACCOUNT_ID}"
    actions = ["DescribeConnector", "RestartConnector", "DescribeConnectorOperation"]
    places = [f"{here}:connector/{lake}-*", f"{here}:connector-operation/{lake}-*"]
    return [
        iam.PolicyStatement(actions=["kafkaconnect:ListConnectors"], resources=["*"]),
        iam.PolicyStatement(actions=[f"kafkaconnect:{name}" for name in actions], resources=places),
    ]


def execution_role(scope: Construct, lake: str, statements: Sequence[iam.PolicyStatement]) -> iam.Role:
    """The role of the connectors of this lake, which MSK Connect cannot be made to use for others."""
    connectors = f"arn:{Aws.PARTITION}:kafkaconnect:{Aws.REGION}:{Aws.ACCOUNT_ID}:connector/{lake}-*"
    conditions = {"StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID}, "ArnLike": {"aws:SourceArn": connectors}}
    service = iam.ServicePrincipal("kafkaconnect.amazonaws.com", conditions=conditions)
    role = iam.Role(scope, "Role", assumed_by=service)
    for statement in statements:
        for piece in in_pieces(statement):
            role.add_to_policy(piece)
    return role


def fingerprint(scope: Construct, text: str) -> str:
    """Of a text with names that only a deployment knows."""
    resolved = json.dumps(Stack.of(scope).resolve(text), sort_keys=True)
    return hashlib.sha256(resolved.encode()).hexdigest()[:16]
