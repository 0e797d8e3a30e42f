"""The only file that decides how an environment is deployed."""

from lake.aws.environment import LOCAL, load_aws_environment
from lake.config.definition import load_databases
from lake.config.environment import PROJECT, load_environment
from lake.deployments.deployment import Deployment
from lake.deployments.local import LocalDeployment


def open_deployment(name: str) -> Deployment:
    """The lake of environments/<name>.yaml: `local` is this machine, every other one is on AWS."""
    if name == LOCAL:
        return LocalDeployment(load_environment())
    from lake.deployments.aws import AwsDeployment  # boto3 takes longer to load than most commands take

    return AwsDeployment(load_aws_environment(PROJECT, name), load_databases(PROJECT))
