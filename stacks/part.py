"""The common input and the base class of all stacks of a lake."""

from dataclasses import dataclass
from pathlib import Path

from aws_cdk import RemovalPolicy, Stack
from constructs import Construct

from lake.aws.environment import AwsEnvironment
from lake.aws.package import Package
from lake.config.definition import Database


@dataclass(frozen=True)
class Blueprint:
    """The input of all stacks of one lake; root is the project's folder."""

    environment: AwsEnvironment
    databases: list[Database]
    root: Path
    package: Package

    @property
    def name(self) -> str:
        return f"lake-{self.environment.name}"

    @property
    def removal(self) -> RemovalPolicy:
        """The removal policy of data when their stack is deleted."""
        return RemovalPolicy.RETAIN if self.environment.keep_data else RemovalPolicy.DESTROY


class Part(Stack):
    """One stack of a lake: lake-<environment>-<part>. A class that is one of several for a part names it."""

    part = ""

    def __init__(self, scope: Construct, blueprint: Blueprint) -> None:
        part = self.part or type(self).__name__.removesuffix("Stack").lower()
        environment = blueprint.environment
        super().__init__(
            scope,
            f"{blueprint.name}-{part}",
            env={"region": environment.region},
            termination_protection=environment.protected,
        )
        self.blueprint = blueprint
        self.settings = blueprint.environment
