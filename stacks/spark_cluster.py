"""The Spark jobs on a cluster of EMR: each continuous job is a step."""

from collections.abc import Mapping

from aws_cdk import Aws, CfnParameter, RemovalPolicy, Stack
from aws_cdk import aws_emr as emr
from aws_cdk import aws_iam as iam
from constructs import Construct
from lake_constructs import metrics
from lake_constructs.alarms import Alarms
from lake_constructs.emr_cluster import EmrCluster
from lake_constructs.emr_configurations import configurations
from lake_constructs.emr_encryption import EmrEncryption
from lake_constructs.emr_roles import NodeRole, ServiceRole, use_disks_key
from lake_constructs.emr_security_groups import EmrSecurityGroups
from lake_constructs.encryption_key import EncryptionKey
from lake_constructs.job_code import JobCode
from lake_constructs.job_restarts import JobRestarts
from lake_constructs.own_function import JOB
from lake_constructs.step_schedules import add_steps

from lake.aws import steps
from lake.aws.routines import job_steps, routines
from lake.aws.table_jobs import table_jobs
from lake.rendering.spark import ATTEMPTS, SESSION
from stacks.job_rights import JobRights
from stacks.network import NetworkStack
from stacks.part import Blueprint
from stacks.spark import Graphs, id_elsewhere, offer, publish_id
from stacks.storage import EMR_LOGS, StorageStack


class SparkCluster:
    """The cluster and its steps, in the stack."""

    service_role = ""

    def __init__(
        self,
        stack: Stack,
        blueprint: Blueprint,
        *,
        network: NetworkStack,
        storage: StorageStack,
        code: JobCode,
        rights: JobRights,
    ) -> None:
        self._stack, self._blueprint, self._storage, self._code = stack, blueprint, storage, code
        self._settings, self._processing = blueprint.environment, blueprint.environment.processing
        self._disks_key = EncryptionKey(stack, "DisksKey", purpose="EMR disks", removal_policy=RemovalPolicy.DESTROY)
        # CloudFormation does not see that a cluster has ended itself. With another number it makes another cluster.
        self.number = CfnParameter(stack, steps.NUMBER, type="Number", default=1, min_value=1).value_as_string
        groups = EmrSecurityGroups(stack, "Groups", vpc=network.vpc)
        self.group = groups.nodes
        statements = [*rights.statements(rights.on_nodes(code)), *self._of_nodes()]
        self.role = NodeRole(stack, "Nodes", statements=statements)
        self.id = self._cluster(groups, network.vpc.private_subnets[0].subnet_id).ref
        publish_id(stack, self._settings.name, self.id)

    def _of_nodes(self) -> list[iam.PolicyStatement]:
        """What the nodes may do beside the jobs."""
        certificates = self._processing.certificates
        return [
            read_outputs(self._settings.name),
            *([read_certificates(certificates)] if certificates else []),
            use_disks_key(self._disks_key),
            metrics.report_metrics(),
        ]

    def _cluster(self, groups: EmrSecurityGroups, subnet: str) -> EmrCluster:
        processing, storage, stack = self._processing, self._storage, self._stack
        # Neither a job nor a version of the reporter is in it: with other arguments the cluster would be another one.
        reporting = [Aws.REGION, self._settings.name, steps.parameter(self._settings.name)]
        keys = {"data_key": storage.key, "disks_key": self._disks_key}
        encryption = EmrEncryption(stack, "Encryption", certificates=processing.certificates, **keys)
        return EmrCluster(
            stack,
            "Cluster",
            name=f"{self._blueprint.name}-{self.number}",
            release_label=processing.release,
            subnet=subnet,
            groups=groups,
            nodes=self.role,
            service=ServiceRole(stack, "Service", nodes=self.role, disks_key=self._disks_key),
            security_configuration=encryption.ref,
            settings=configurations(spark=SESSION, attempts=ATTEMPTS, glue=processing.metastore == "glue"),
            bootstrap={self._code.bootstrap: reporting},
            primary=processing.primary,
            core=processing.core,
            minimum=processing.nodes.minimum,
            maximum=processing.nodes.maximum,
            idle_minutes=processing.idle_minutes,
            step_concurrency_level=processing.step_concurrency,
            log_uri=f"s3://{storage.logs.bucket_name}/{EMR_LOGS}/",
        )

    def start(self, outputs: steps.StackOutputs) -> None:
        commands = {name: steps.start(name, job, outputs) for name, job in self._processing.layered.items()}
        tables = table_jobs(self._processing, self._blueprint.databases)
        commands |= {one.name: steps.start_table(one, self._processing.streamer, outputs) for one in tables}
        self._offer(commands, outputs)
        for name, command in commands.items():
            # The arguments hold the hashes of the job's files: only a change of the code makes a new step.
            emr.CfnStep(
                self._stack,
                f"Job-{name}",
                name=name,
                job_flow_id=outputs.cluster,
                action_on_failure="CONTINUE",
                hadoop_jar_step={"jar": steps.RUNNER, "args": command},
            )
        self._restarts = JobRestarts(
            self._stack,
            "Restarts",
            cluster=self.id,
            bucket=self._storage.artifacts,
            status=steps.remembered_key(JOB, "status.json"),
            jobs=list(commands),
            logs=self._storage.log_settings,
        )

    def _offer(self, jobs: Mapping[str, list[str]], outputs: steps.StackOutputs) -> None:
        """jobs: the commands that start them."""
        offer(
            self._stack,
            self._blueprint,
            routines(self._settings, self._blueprint.root, outputs),
            job_steps(jobs, outputs),
            call="emr:addJobFlowSteps",
            statements=[add_steps(self.id)],
            target=lambda step: {"JobFlowId": self.id, "Steps": [step]},
        )

    def watch(self, scope: Construct, alarms: Alarms) -> Graphs:
        given_up = "A job ends again and again and is not started any more: see its log, then lake jobs submit."
        alarms.raise_on("JobNotRestarted", self._restarts.failures, 0, minutes=1, says=given_up)
        cluster = self.id_elsewhere(scope)
        alarms.tell_of_failed_steps(cluster)
        alarms.tell_of_a_failed_cluster(cluster)
        return {"Applications on the cluster": [metrics.emr(cluster, "AppsRunning")]}

    def id_elsewhere(self, scope: Construct) -> str:
        return id_elsewhere(scope, self._stack, self._settings.name)


def read_outputs(environment: str) -> iam.PolicyStatement:
    """Read the parameter with the outputs of the deployment."""
    arn = f"arn:{Aws.PARTITION}:ssm:{Aws.REGION}:{Aws.ACCOUNT_ID}:parameter{steps.parameter(environment)}"
    return iam.PolicyStatement(actions=["ssm:GetParameter"], resources=[arn])


def read_certificates(url: str) -> iam.PolicyStatement:
    arn = f"arn:{Aws.PARTITION}:s3:::{url.removeprefix('s3://')}"
    return iam.PolicyStatement(actions=["s3:GetObject"], resources=[arn])
