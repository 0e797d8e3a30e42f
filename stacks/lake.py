"""All stacks of one environment, wired together in one place."""

from pathlib import Path
from tempfile import TemporaryDirectory

from aws_cdk import Annotations, App, Stack, Tags
from aws_cdk import aws_msk as msk
from lake_constructs.handler_logs import keep_handler_logs
from lake_constructs.permissions_boundary import limit_roles
from lake_constructs.undeployable import refuse_deployment

from lake.aws.environment import AwsEnvironment
from lake.aws.package import build, build_without_jars
from lake.aws.part import LAKE_TAG
from lake.aws.prerequisites import missing_jar
from lake.aws.rendering import glue_databases
from lake.config.definition import Database
from stacks.capture import CaptureStack
from stacks.catalog import CatalogStack
from stacks.network import NetworkStack
from stacks.operations import OperationsStack
from stacks.part import Blueprint
from stacks.processing import ProcessingStack
from stacks.source import SourceStack
from stacks.storage import StorageStack
from stacks.streaming import StreamingStack
from stacks.suppressions import acknowledge


class Lake:
    """lake-<environment>-<part>, in the order in which they are deployed."""

    def __init__(self, app: App, blueprint: Blueprint) -> None:
        environment = blueprint.environment
        self.storage = StorageStack(app, blueprint)
        self.network = NetworkStack(app, blueprint, storage=self.storage)
        ground = {"storage": self.storage, "network": self.network}
        self.source = SourceStack(app, blueprint, **ground)
        self.streaming = StreamingStack(app, blueprint, **ground)
        self.catalog = CatalogStack(app, blueprint, storage=self.storage)
        data = {**ground, "source": self.source, "streaming": self.streaming}
        self.connect: CaptureStack = capture_stack(environment)(app, blueprint, **data)
        self.processing = ProcessingStack(app, blueprint, connect=self.connect, **data)
        self.operations = OperationsStack(
            app, blueprint, source=self.source, connect=self.connect, processing=self.processing
        )
        self.processing.add_stack_dependency(self.catalog)  # the jobs register tables in its databases
        for stack in self.stacks.values():
            keep_handler_logs(stack, self.storage.log_settings)
            if environment.permissions_boundary:
                limit_roles(stack, environment.permissions_boundary)
        tag_all(app, environment)
        found = environment.streaming.existing
        repeated = {
            "<database>": list(glue_databases(blueprint.databases)),
            "<source>": [one.database for one in blueprint.databases],
            "<kafka>": [found.path] if found else [],
        }
        acknowledge(self.stacks, environment.name, repeated, keep_data=environment.keep_data)

    @property
    def stacks(self) -> dict[str, Stack]:
        """The stacks by part; parts are named like the files."""
        return {name: part for name, part in vars(self).items() if isinstance(part, Stack)}


def capture_stack(environment: AwsEnvironment) -> type[CaptureStack]:
    """Only the chosen kind is imported: the CDK's modules of the other one take a tenth of the time of a synth."""
    if environment.connect.kind == "msk_connect":
        from stacks.managed_connect import ManagedConnectStack

        return ManagedConnectStack
    from stacks.connect import ConnectStack

    return ConnectStack


def tag_all(app: App, environment: AwsEnvironment) -> None:
    """The environment's tags on all resources but MSK Serverless, whose tags can never be changed."""
    Tags.of(app).add(LAKE_TAG, environment.name)
    for key, value in environment.tags.items():
        Tags.of(app).add(key, value, exclude_resource_types=[msk.CfnServerlessCluster.CFN_RESOURCE_TYPE_NAME])


def add_lake(app: App, environment: AwsEnvironment, databases: list[Database], root: Path) -> Lake:
    """Add the stacks. Without a build they have stand-ins for the jars and refuse to be deployed."""
    missing = missing_jar(root, environment)
    if missing is None:
        return Lake(app, Blueprint(environment, databases, root, build(root, environment, databases)))
    with TemporaryDirectory(prefix="lake-synth-") as folder:
        package = build_without_jars(root, environment, databases, Path(folder))
        lake = Lake(app, Blueprint(environment, databases, root, package))
    for stack in lake.stacks.values():
        refuse_deployment(stack, str(missing))
    warning = f"{missing}; until then the templates have stand-ins for jars, and cdk deploy refuses them"
    Annotations.of(lake.processing).add_warning_v2("lake:build", warning)
    return lake
