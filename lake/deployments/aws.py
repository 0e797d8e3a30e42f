"""A lake on AWS."""

from collections.abc import Iterator, Sequence
from typing import Any

from lake.aws.environment import AwsEnvironment
from lake.aws.prerequisites import check_build
from lake.aws.processing import STREAMER
from lake.aws.rendering import STATE
from lake.aws.steps import ADMIN_USER, login, refine_words, streamer_words
from lake.config.definition import Database
from lake.config.environment import PROJECT
from lake.config.errors import BadInput
from lake.config.names import as_options
from lake.config.refinement import REFINE, Refinement
from lake.config.report import Report, silent
from lake.config.versions import EMR, no_streamer
from lake.deployments import aws_status, cdk, pod_logs
from lake.deployments.account import wait
from lake.deployments.aws_connectors import aws_connectors
from lake.deployments.aws_jobs import AwsJobs
from lake.deployments.aws_resources import AwsResources
from lake.deployments.connectors import Ask
from lake.deployments.deployment import Status, StreamerRun
from lake.deployments.managed_connectors import managed_connectors
from lake.rendering.streamer import RunOptions, refuse_unreadable
from lake.samples import moma

RUN_WITHIN_S = 1800.0
STREAM_WITHIN_S = 4 * 3600.0  # the first round reads the whole archive
CAPTURED_WITHIN_S = 1200.0  # a new table is captured within five minutes, and read then


class AwsDeployment(AwsResources):
    """environments/<name>.yaml in the account of the credentials."""

    watchable = False

    def __init__(self, environment: AwsEnvironment, databases: list[Database]) -> None:
        super().__init__(environment, databases)
        self.name = environment.name
        self.jobs = AwsJobs(self.steps)
        self._mark = f"/lake/{self.name}/rebuilding"

    @property
    def protected(self) -> bool:
        return self.environment.protected or self.stacks.protected()

    def connectors(self, databases: Sequence[Database], report: Report) -> Ask:
        if self.environment.connect.kind == "msk_connect":
            return managed_connectors(self.account, self.environment, databases, report)
        return aws_connectors(self.account, self.environment, self.steps.bucket(), databases, report)

    # --- Look.

    def status(self) -> Status:
        return aws_status.look(self.steps, self.stacks, self.jobs)

    def logs(self, service: str, lines: int, follow: bool) -> Iterator[str]:
        yield from pod_logs.last(self.account, self.environment, service, lines)
        if follow:
            yield from pod_logs.follow(self.account, self.environment, service)

    def topics(self, report: Report = silent) -> list[dict[str, Any]]:
        return list(self.steps.run("topics", self.steps.config(), report, RUN_WITHIN_S)["topics"])

    # --- Run.

    def verify(self, names: list[str], timeout_s: float, report: Report) -> dict[str, Any]:
        """Waits until every table is captured. The result also stays in S3, with the earlier ones."""
        wait(lambda: not self._missing(), "the first commit of every table", CAPTURED_WITHIN_S)
        words = [*self.steps.config(), *login(self.steps.outputs()), "--timeout-s", str(timeout_s)]
        return self.steps.run("verify", [*words, *as_options(names)], report, timeout_s + RUN_WITHIN_S)

    def _missing(self) -> list[str]:
        """The tables of the definition that no job has committed yet."""
        wanted = [(one.database, table) for one in self.databases for table in one.tables]
        names = {f"{database}_{kind}.{table.stored_as}" for database, table in wanted for kind in table.types}
        reported = [pair for one in self.steps.reports().values() for pair in one.get("tables", {}).items()]
        return sorted(names - {name for name, facts in reported if facts.get("committed_at")})

    def run_streamer(self, options: RunOptions, report: Report) -> StreamerRun:
        release = self.environment.processing.release
        if reason := no_streamer(release):
            raise BadInput(reason, f"environments/{self.name}.yaml, key processing.release", f"run it on {EMR}")
        refuse_unreadable(self.databases, options.names)
        if not options.once:
            return StreamerRun(job=self.jobs.start_streamer(options, report))
        name = f"{STREAMER}-once"
        words = [*self.steps.config(), *streamer_words(options, self.steps.outputs())]
        result = self.steps.run(STREAMER, words, report, STREAM_WITHIN_S, name)
        return StreamerRun(result, f"see: lake jobs logs {name} --env {self.name}")

    def refine(self, wanted: Refinement, report: Report) -> dict[str, Any]:
        words = [*self.steps.config(), *refine_words(wanted, self.steps.outputs())]
        return self.steps.run(REFINE, words, report, RUN_WITHIN_S)

    # --- Build.

    def check_build(self) -> None:
        check_build(PROJECT, self.environment)
        cdk.check(self.account)

    def build(self, report: Report) -> None:
        cdk.deploy(self.name, report)
        if not self.environment.source.existing:
            self._load(report)

    def _load(self, report: Report) -> None:
        """Loads the sample rows, from the bucket of artifacts."""
        folder, outputs = f"{STATE}/load", self.steps.outputs()
        bucket = outputs.places["artifacts"]
        files = {"schema": "schema.sql", **moma.FILES}
        for name in files.values():
            self.account.client("s3").upload_file(str(PROJECT / "data/moma" / name), bucket, f"{folder}/{name}")
        paths = {name: f"s3://{bucket}/{folder}/{file}" for name, file in files.items()}
        url = f"{outputs.source}/{moma.DATABASE}"
        words = ["--jdbc-url", url, "--user", ADMIN_USER, "--schema", paths.pop("schema")]
        tables = [word for name, path in paths.items() for word in ("--table", f"{name}={path}")]
        added = self.steps.run("load", [*words, *tables], report, RUN_WITHIN_S)["added"]
        report(f"loaded: {', '.join(f'{count} rows of {name}' for name, count in added.items())}")

    def rebuilding(self) -> bool:
        return bool(self.account.client("ssm").get_parameters(Names=[self._mark])["Parameters"])

    def mark_rebuilding(self, on: bool) -> None:
        ssm = self.account.client("ssm")
        if on:
            ssm.put_parameter(Name=self._mark, Value="true", Type="String", Overwrite=True)
        else:
            ssm.delete_parameters(Names=[self._mark])
