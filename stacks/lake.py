"""All stacks of one environment, wired together in one place."""

from pathlib import Path
from tempfile import TemporaryDirectory

from aws_cdk import Annotations, App, RemovalPolicy, Stack, Tags
from lake_constructs.handler_logs import keep_handler_logs
from lake_constructs.undeployable import refuse_deployment

from lake.aws.environment import AwsEnvironment
from lake.aws.package import Package, build, build_without_jars
from lake.aws.prerequisites import missing_jar
from lake.aws.rendering import glue_databases
from lake.config.definition import Database
from stacks.catalog import CatalogStack
from stacks.connect import ConnectStack
from stacks.findings import acknowledge
from stacks.network import NetworkStack
from stacks.operations import OperationsStack
from stacks.processing import ProcessingStack
from stacks.source import SourceStack
from stacks.storage import StorageStack
from stacks.streaming import StreamingStack


class Lake:
    """lake-<environment>-<part>, in the order in which they are deployed."""

    def __init__(
        self, app: App, environment: AwsEnvironment, databases: list[Database], root: Path, package: Package
    ) -> None:
        prefix = f"lake-{environment.name}"
        removal = RemovalPolicy.RETAIN if environment.keep_data else RemovalPolicy.DESTROY
        self.storage = StorageStack(app, f"{prefix}-storage", environment=environment, removal=removal)
        self.network = NetworkStack(app, f"{prefix}-network", environment=environment, logs_key=self.storage.logs_key)
        shared = {"environment": environment, "logs_key": self.storage.logs_key, "removal": removal}
        self.source = SourceStack(
            app, f"{prefix}-source", network=self.network, database=databases[0].database, **shared
        )
        self.streaming = StreamingStack(app, f"{prefix}-streaming", network=self.network, **shared)
        self.catalog = CatalogStack(
            app, f"{prefix}-catalog", environment=environment, databases=databases, storage=self.storage
        )
        self.connect = ConnectStack(
            app,
            f"{prefix}-connect",
            databases=databases,
            root=root,
            plugins=package.plugins,
            network=self.network,
            source=self.source,
            streaming=self.streaming,
            storage=self.storage,
            **shared,
        )
        self.processing = ProcessingStack(
            app,
            f"{prefix}-processing",
            environment=environment,
            databases=databases,
            package=package,
            network=self.network,
            source=self.source,
            storage=self.storage,
            streaming=self.streaming,
            connect=self.connect,
            removal=removal,
        )
        self.operations = OperationsStack(
            app,
            f"{prefix}-operations",
            environment=environment,
            source=self.source,
            streaming=self.streaming,
            connect=self.connect,
            processing=self.processing,
        )
        self._finish(app, environment, databases)

    def _finish(self, app: App, environment: AwsEnvironment, databases: list[Database]) -> None:
        """What concerns all stacks, or the order of two."""
        self.processing.add_dependency(self.catalog)  # the jobs register tables in its databases
        for stack in self.stacks.values():
            keep_handler_logs(stack, key=self.storage.logs_key, days=environment.operations.log_days)
        Tags.of(app).add("lake", environment.name)
        acknowledge(self.stacks, environment.name, list(glue_databases(databases)), keep_data=environment.keep_data)

    @property
    def stacks(self) -> dict[str, Stack]:
        """By part, as in the names of the files."""
        return {name: part for name, part in vars(self).items() if isinstance(part, Stack)}


def add_lake(app: App, environment: AwsEnvironment, databases: list[Database], root: Path) -> Lake:
    """The stacks; without a build they have stand-ins for the jars, and refuse to be deployed."""
    missing = missing_jar(root, environment)
    if missing is None:
        return Lake(app, environment, databases, root, build(root, environment, databases))
    with TemporaryDirectory(prefix="lake-synth-") as folder:
        lake = Lake(app, environment, databases, root, build_without_jars(root, environment, databases, Path(folder)))
    for stack in lake.stacks.values():
        refuse_deployment(stack, str(missing))
    warning = f"{missing}; until then the templates have stand-ins for jars, and cdk deploy refuses them"
    Annotations.of(lake.processing).add_warning_v2("lake:build", warning)
    return lake
