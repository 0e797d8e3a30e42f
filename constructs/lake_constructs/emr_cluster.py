"""The EMR cluster that runs the jobs."""

from collections.abc import Mapping, Sequence
from typing import Any

from aws_cdk import CfnTag
from aws_cdk import aws_emr as emr
from constructs import Construct

from lake_constructs.emr_roles import TAG, NodeRole, ServiceRole
from lake_constructs.emr_security_groups import EmrSecurityGroups

APPLICATIONS = ("Spark", "Hadoop", "Hive", "Livy", "JupyterEnterpriseGateway")
DISK = {"volumeSpecification": {"sizeInGb": 100, "volumeType": "gp3"}, "volumesPerInstance": 1}


class EmrCluster(emr.CfnCluster):
    """A cluster that scales its core nodes automatically and runs several jobs at once.

    primary and core are types of instances, minimum and maximum numbers of them; properties are CfnCluster's own.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        subnet: str,
        groups: EmrSecurityGroups,
        nodes: NodeRole,
        service: ServiceRole,
        settings: Mapping[str, Mapping[str, str]],
        bootstrap: Mapping[str, Sequence[str]],
        primary: str,
        core: str,
        minimum: int,
        maximum: int,
        idle_minutes: int | None,
        **properties: Any,
    ) -> None:
        limits = {"unitType": "Instances", "minimumCapacityUnits": minimum, "maximumCapacityUnits": maximum}
        super().__init__(
            scope,
            id,
            applications=[{"name": application} for application in APPLICATIONS],
            job_flow_role=nodes.profile.ref,
            service_role=service.role_arn,
            visible_to_all_users=True,
            instances={
                "ec2SubnetId": subnet,
                "emrManagedMasterSecurityGroup": groups.nodes.security_group_id,
                "emrManagedSlaveSecurityGroup": groups.nodes.security_group_id,
                "serviceAccessSecurityGroup": groups.service.security_group_id,
                "masterInstanceGroup": instance_group(primary, 1),
                "coreInstanceGroup": instance_group(core, minimum),
                "keepJobFlowAliveWhenNoSteps": True,
                # With it, CloudFormation could neither replace nor delete the cluster; the stack is protected instead.
                "terminationProtected": False,
            },
            managed_scaling_policy={"computeLimits": limits},
            auto_termination_policy={"idleTimeout": idle_minutes * 60} if idle_minutes else None,
            bootstrap_actions=[
                {"name": script.rpartition("/")[2], "scriptBootstrapAction": {"path": script, "args": list(arguments)}}
                for script, arguments in bootstrap.items()
            ],
            configurations=[
                {"classification": key, "configurationProperties": dict(values)} for key, values in settings.items()
            ],
            tags=[CfnTag(key=TAG[0], value=TAG[1])],
            **properties,
        )
        # The role's policies are separate resources: without them EMR could neither start nor stop nodes.
        self.node.add_dependency(nodes, service)


def instance_group(instance_type: str, count: int) -> dict[str, Any]:
    return {
        "instanceCount": count,
        "instanceType": instance_type,
        "market": "ON_DEMAND",
        "ebsConfiguration": {"ebsBlockDeviceConfigs": [DISK]},
    }
