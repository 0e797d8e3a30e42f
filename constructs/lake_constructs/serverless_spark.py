"""EMR Serverless: the application that runs Spark jobs, and the role of its job runs."""

import hashlib
import json
from collections.abc import Mapping, Sequence

from aws_cdk import Aws
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_emrserverless as emrserverless
from aws_cdk import aws_iam as iam
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from lake_constructs.emr_configurations import FACTORY
from lake_constructs.encryption_key import EncryptionKey
from lake_constructs.statement_pieces import in_pieces

IDLE_MINUTES = 15  # AWS's own default; an application that has stopped starts with the next job run
SERVICE = "emr-serverless.amazonaws.com"
# Between driver and executors, with a certificate for each worker.
ENCRYPTION = {"spark.ssl.internode.enabled": "true", "spark.io.encryption.enabled": "true"}
CATALOG = {f"spark.hadoop.{key}": value for key, value in FACTORY.items()}


class SparkApplication(emrserverless.CfnApplication):
    """An application in private subnets, with a limit on all of its workers together, and its logs in S3.

    spark: the defaults of every job. EMR Serverless encrypts the disks of workers with keys of its own.

    An application cannot be changed while a job runs. So what may change is in its name, which is a create-only
    property: CloudFormation makes another application, functions/job_run.py moves the jobs, and the old one goes.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        name: str,
        release: str,
        spark: Mapping[str, str],
        subnets: Sequence[str],
        group: ec2.ISecurityGroup,
        vcpus: int,
        memory_gb: int,
        log_uri: str,
    ) -> None:
        settings = {**spark, **ENCRYPTION, **CATALOG}
        super().__init__(
            scope,
            id,
            name=f"{name}-{hashed(release, vcpus, memory_gb, settings)}",
            type="SPARK",
            release_label=release,
            architecture="ARM64",  # as the nodes of a cluster by default
            auto_start_configuration={"enabled": True},
            auto_stop_configuration={"enabled": True, "idleTimeoutMinutes": IDLE_MINUTES},
            maximum_capacity={"cpu": f"{vcpus} vCPU", "memory": f"{memory_gb} GB"},
            network_configuration={"subnetIds": list(subnets), "securityGroupIds": [group.security_group_id]},
            monitoring_configuration={
                "s3MonitoringConfiguration": {"logUri": log_uri},
                # Else AWS keeps a copy of the logs, outside of the account.
                "managedPersistenceMonitoringConfiguration": {"enabled": False},
            },
            runtime_configuration=[
                {"classification": "spark-defaults", "properties": settings},
            ],
        )


class JobRole(iam.Role):
    """The rights of the jobs. Only applications of this account may take the role."""

    def __init__(self, scope: Construct, id: str, *, statements: Sequence[iam.PolicyStatement]) -> None:
        limits = {
            "StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID},
            "ArnLike": {"aws:SourceArn": f"{applications()}*"},
        }
        super().__init__(scope, id, assumed_by=iam.ServicePrincipal(SERVICE, conditions=limits))
        for statement in statements:
            for piece in in_pieces(statement):
                self.add_to_policy(piece)


def applications() -> str:
    """How the ARN of each application of this account begins."""
    return f"arn:{Aws.PARTITION}:emr-serverless:{Aws.REGION}:{Aws.ACCOUNT_ID}:/applications/"


def run_jobs(tag: tuple[str, str], role: iam.IRole) -> list[iam.PolicyStatement]:
    """Start, list and cancel the job runs of applications with a tag, with one role, and stop these applications.

    By the tag and not by an id: while an application is replaced there are two.
    """
    ours = {"StringEquals": {f"aws:ResourceTag/{tag[0]}": tag[1]}}
    further = ("ListJobRuns", "GetApplication", "StopApplication", "CancelJobRun")
    return [*start_runs(tag, role), _allow(further, f"{applications()}*", ours)]


def start_runs(tag: tuple[str, str], role: iam.IRole) -> list[iam.PolicyStatement]:
    """Start job runs of applications with a tag, which the runs get too, with one role."""
    arn, ours = f"{applications()}*", {"StringEquals": {f"aws:ResourceTag/{tag[0]}": tag[1]}}
    named = {"StringEquals": {f"aws:RequestTag/{tag[0]}": tag[1]}}
    passed = {"StringEquals": {"iam:PassedToService": SERVICE}}
    return [
        _allow(["StartJobRun"], arn, ours),
        _allow(["TagResource"], f"{arn}/jobruns/*", named),
        iam.PolicyStatement(actions=["iam:PassRole"], resources=[role.role_arn], conditions=passed),
    ]


def _allow(actions: Sequence[str], arn: str, conditions: Mapping[str, Mapping[str, str]]) -> iam.PolicyStatement:
    words = [f"emr-serverless:{name}" for name in actions]
    return iam.PolicyStatement(actions=words, resources=[arn], conditions=dict(conditions))


def hashed(*content: object) -> str:
    """A few letters that differ if the content does."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:8]


def hand_to_jobs(secrets: Sequence[secretsmanager.ISecret], key: EncryptionKey) -> None:
    """Lets EMR Serverless put these secrets into the variables of job runs of this account (`EMR.secret@`)."""
    limits = {
        "StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID},
        "ArnLike": {"aws:SourceArn": f"{applications()}*"},
    }
    for secret in secrets:
        secret.add_to_resource_policy(
            iam.PolicyStatement(
                principals=[iam.ServicePrincipal(SERVICE)],
                actions=["secretsmanager:GetSecretValue", "secretsmanager:DescribeSecret"],
                resources=["*"],  # of a policy of a secret: this secret
                conditions=limits,
            )
        )
    through = {"StringEquals": {"kms:ViaService": f"secretsmanager.{Aws.REGION}.amazonaws.com"}}
    key.allow(SERVICE, ["kms:Decrypt", "kms:DescribeKey"], through)
