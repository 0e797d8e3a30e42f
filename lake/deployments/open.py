"""The lake of an environment file."""

from typing import TYPE_CHECKING

from lake.aws.environment import LOCAL, load_aws_environment
from lake.config.definition import load_databases
from lake.config.home import PROJECT, load_home
from lake.deployments.deployment import Place
from lake.deployments.local import LocalPlace

if TYPE_CHECKING:
    from lake.deployments.aws import AwsPlace


def place(name: str) -> Place:
    """BadInput names what is wrong in the file. Whatever is not `local` is on AWS."""
    return LocalPlace(load_home()) if name == LOCAL else aws_place(name)


def aws_place(name: str) -> "AwsPlace":
    """BadInput likewise."""
    from lake.deployments.aws import AwsPlace  # boto3 takes longer to load than most commands take

    return AwsPlace(load_aws_environment(PROJECT, name), load_databases(PROJECT))
