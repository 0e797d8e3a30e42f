"""All types that the account knows."""

from types import ModuleType

from tests.emulated_account.errors import NotEmulated
from tests.emulated_account.handlers import empty_bucket, helm_chart, job_run, manifest, object_value, sdk_call
from tests.emulated_account.resources import (
    athena,
    autoscaling,
    budgets,
    cdk,
    cloudwatch,
    ec2,
    ecr,
    ecs,
    eks,
    emr,
    emr_serverless,
    events,
    functions,
    glue,
    iam,
    kafka_connect,
    kms,
    load_balancing,
    logs,
    msk,
    rds,
    s3,
    secretsmanager,
    sns,
    ssm,
)
from tests.emulated_account.resources.kind import Kind

SERVICES = (
    *(athena, autoscaling, budgets, cdk, cloudwatch, ec2, ecr, ecs, eks, emr, emr_serverless, events, functions, glue),
    *(iam, kafka_connect, kms, load_balancing, logs, msk, rds, s3, secretsmanager, sns, ssm),
    *(empty_bucket, helm_chart, job_run, manifest, object_value, sdk_call),
)


def _kinds(module: ModuleType) -> dict[str, type[Kind]]:
    found = [one for one in vars(module).values() if isinstance(one, type) and issubclass(one, Kind)]
    return {one.type: one for one in found if hasattr(one, "type")}


KINDS = {name: kind for module in SERVICES for name, kind in _kinds(module).items()}


def kind(name: str) -> type[Kind]:
    """NotEmulated when nobody wrote it."""
    if name not in KINDS:
        raise NotEmulated(f"resource type {name}")
    return KINDS[name]
