"""The EMR cluster that runs the jobs."""

from collections.abc import Mapping, Sequence

from aws_cdk import CfnTag
from aws_cdk import aws_emr as emr
from constructs import Construct

from lake_constructs.emr_roles import TAG, NodeRole, ServiceRole
from lake_constructs.emr_security_groups import EmrSecurityGroups

APPLICATIONS = ("Spark", "Hadoop", "Hive", "Livy", "JupyterEnterpriseGateway")
DISK_GB = 100


class EmrCluster(emr.CfnCluster):
    """A cluster that scales its core nodes automatically and runs several jobs at once."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        name: str,
        release: str,
        subnet: str,
        groups: EmrSecurityGroups,
        nodes: NodeRole,
        service: ServiceRole,
        security_configuration: str,
        settings: Mapping[str, Mapping[str, str]],
        bootstrap: Mapping[str, Sequence[str]],
        primary: str,
        core: str,
        minimum: int,
        maximum: int,
        step_concurrency: int,
        idle_minutes: int | None,
        logs: str,
    ) -> None:
        super().__init__(
            scope,
            id,
            name=name,
            release_label=release,
            applications=[emr.CfnCluster.ApplicationProperty(name=application) for application in APPLICATIONS],
            job_flow_role=nodes.profile.ref,
            service_role=service.role_arn,
            security_configuration=security_configuration,
            log_uri=logs,
            visible_to_all_users=True,
            step_concurrency_level=step_concurrency,
            instances=instances(subnet, groups, primary, core, minimum),
            managed_scaling_policy=scaling(minimum, maximum),
            auto_termination_policy=idle(idle_minutes),
            bootstrap_actions=[action(script, arguments) for script, arguments in bootstrap.items()],
            configurations=[
                emr.CfnCluster.ConfigurationProperty(classification=key, configuration_properties=dict(values))
                for key, values in settings.items()
            ],
            tags=[CfnTag(key=TAG[0], value=TAG[1])],
        )
        # The role's policies are resources of their own: without them EMR could neither start nor stop nodes.
        self.node.add_dependency(nodes, service)


def instances(
    subnet: str, groups: EmrSecurityGroups, primary: str, core: str, count: int
) -> emr.CfnCluster.JobFlowInstancesConfigProperty:
    return emr.CfnCluster.JobFlowInstancesConfigProperty(
        ec2_subnet_id=subnet,
        emr_managed_master_security_group=groups.nodes.security_group_id,
        emr_managed_slave_security_group=groups.nodes.security_group_id,
        service_access_security_group=groups.service.security_group_id,
        master_instance_group=instance_group(primary, 1),
        core_instance_group=instance_group(core, count),
        keep_job_flow_alive_when_no_steps=True,
        termination_protected=False,  # with it, CloudFormation could not replace or delete the cluster
    )


def instance_group(instance_type: str, count: int) -> emr.CfnCluster.InstanceGroupConfigProperty:
    disk = emr.CfnCluster.VolumeSpecificationProperty(size_in_gb=DISK_GB, volume_type="gp3")
    device = emr.CfnCluster.EbsBlockDeviceConfigProperty(volume_specification=disk, volumes_per_instance=1)
    return emr.CfnCluster.InstanceGroupConfigProperty(
        instance_count=count,
        instance_type=instance_type,
        market="ON_DEMAND",
        ebs_configuration=emr.CfnCluster.EbsConfigurationProperty(ebs_block_device_configs=[device]),
    )


def scaling(minimum: int, maximum: int) -> emr.CfnCluster.ManagedScalingPolicyProperty:
    limits = emr.CfnCluster.ComputeLimitsProperty(
        unit_type="Instances", minimum_capacity_units=minimum, maximum_capacity_units=maximum
    )
    return emr.CfnCluster.ManagedScalingPolicyProperty(compute_limits=limits)


def idle(minutes: int | None) -> emr.CfnCluster.AutoTerminationPolicyProperty | None:
    return emr.CfnCluster.AutoTerminationPolicyProperty(idle_timeout=minutes * 60) if minutes else None


def action(script: str, arguments: Sequence[str]) -> emr.CfnCluster.BootstrapActionConfigProperty:
    return emr.CfnCluster.BootstrapActionConfigProperty(
        name=script.rpartition("/")[2],
        script_bootstrap_action=emr.CfnCluster.ScriptBootstrapActionConfigProperty(path=script, args=list(arguments)),
    )
