"""A lake on AWS as its operator sees it: stacks, cluster, buckets, and what is left of them."""

import json
from collections.abc import Iterator, Sequence
from typing import Any
from uuid import uuid4

from botocore.exceptions import ClientError

from lake.aws import steps
from lake.aws.environment import AwsEnvironment
from lake.aws.prerequisites import check_build
from lake.aws.processing import STREAMER
from lake.aws.rendering import STATE
from lake.aws.steps import Sheet
from lake.config.definition import Database
from lake.config.errors import BadInput, LakeError
from lake.config.home import PROJECT
from lake.deployments import cdk
from lake.deployments.account import Account, code, wait
from lake.deployments.already_deleted import gone
from lake.deployments.buckets import empty
from lake.deployments.cluster import ALIVE, Cluster
from lake.deployments.deployment import Item, Say
from lake.deployments.stacks import PARTS, Stacks
from lake.rendering.streamer import Wish
from lake.samples import moma

STOP_WITHIN_S = 600.0
RUN_WITHIN_S = 1800.0
STREAM_WITHIN_S = 4 * 3600.0  # the first round reads the whole archive
CAPTURED_WITHIN_S = 1200.0  # a new table is captured within five minutes, and read then
DATA_BUCKETS = ("Bronze", "Silver")  # how their logical ids begin
STORAGE = "storage"
# First what writes, then what captures: nothing may arrive in a bucket that was emptied.
BEFORE_BUCKETS = ("operations", "processing", "connect")
NOT_CAPTURED = "the tables are not all there yet"


def silent(line: str) -> None:
    """A report that goes nowhere."""


class AwsPlace:
    """environments/<name>.yaml in the account of the credentials."""

    def __init__(self, environment: AwsEnvironment, databases: list[Database]) -> None:
        self.environment, self._databases = environment, databases
        self.name, self.protected = environment.name, environment.protected
        self.account = Account(environment.region)
        self.stacks = Stacks(self.account, self.name)

    # --- What there is.

    def standing(self) -> list[Item]:
        found = self.stacks.items()
        names = {item.name for item in found}
        return [*found, *(item for item in self._tagged() if not _part_of(item.name, names)), *self._in_the_source()]

    def _in_the_source(self) -> list[Item]:
        """An existing database keeps these, and its log for a slot: nothing outside of the lake's network sees them."""
        existing = self.environment.source.existing
        if not existing:
            return []
        names = [name for one in self._databases for name in (f"slot {one.slot}", f"publication {one.publication}")]
        return [Item(f"the database {existing.host}", "to be dropped by hand:", name, "", True) for name in names]

    def _tagged(self) -> Iterator[Item]:
        """Everything that carries the lake's tag, in a stack or not."""
        wish = {"TagFilters": [{"Key": "lake", "Values": [self.name]}]}
        tagging = "resourcegroupstaggingapi"
        for one in self.account.pages(tagging, "get_resources", "ResourceTagMappingList", **wish):
            arn = str(one["ResourceARN"])
            if not gone(self.account, arn):
                yield Item("outside of the stacks", arn.split(":")[2], arn, "", self.environment.keep_data)

    def keeps(self, item: Item, keep_data: bool) -> bool:
        """--keep-data leaves the whole storage stack: without their key the objects would be lost."""
        return item.stays or (keep_data and item.where == f"lake-{self.name}-{STORAGE}")

    # --- Down.

    def demolish(self, keep_data: bool, say: Say) -> None:
        self._stop_jobs(say)
        for part in BEFORE_BUCKETS:
            self.stacks.delete(part, say)
        if not self.environment.keep_data:
            for id, bucket in self.stacks.buckets().items():
                if not (keep_data and id.startswith(DATA_BUCKETS)):
                    empty(self.account, bucket, say)
        for part in reversed(PARTS):
            if part not in BEFORE_BUCKETS and not (keep_data and part == STORAGE):
                self.stacks.delete(part, say)

    def _stop_jobs(self, say: Say) -> None:
        """So that no commit is cut off; a job that does not stop ends with its cluster, and Hudi rolls back."""
        sheet = self.find_sheet()
        if sheet is None or (cluster := self.cluster(sheet)).state() not in ALIVE:
            return
        known = cluster.steps()
        for one in known:
            if not one.done:
                say(f"cancels {one.name}")
                cluster.cancel(one.id)
        streamer = [STREAMER] if any(one.name == STREAMER for one in known) else []
        for job in (*self.environment.processing.jobs, *streamer):
            say(f"stops {job}")
            try:
                wait(lambda id=self.stop(job, sheet): cluster.step(id).done, f"the end of {job}", STOP_WITHIN_S)  # type: ignore[misc]
            except LakeError as error:
                say(f"{job}: {error.what}; it ends with its cluster")

    # --- Up.

    def check_build(self) -> None:
        check_build(PROJECT, self.environment)
        cdk.check(self.account)

    def build(self, say: Say) -> None:
        cdk.deploy(self.name, say)
        if not self.environment.source.existing:
            self._load(say)

    def _load(self, say: Say) -> None:
        """The sample rows, from the bucket of artifacts."""
        folder = f"{STATE}/load"
        bucket = self.sheet().places["artifacts"]
        files = {"schema": "schema.sql", **moma.FILES}
        for name in files.values():
            self.account.client("s3").upload_file(str(PROJECT / "data/moma" / name), bucket, f"{folder}/{name}")
        paths = {name: f"s3://{bucket}/{folder}/{file}" for name, file in files.items()}
        url = f"{self.sheet().source}/{moma.DATABASE}"
        login = ["--jdbc-url", url, "--user", steps.ADMIN_USER, "--schema", paths.pop("schema")]
        tables = [word for name, path in paths.items() for word in ("--table", f"{name}={path}")]
        added = self.run("load", [*login, *tables], say, RUN_WITHIN_S)["added"]
        say(f"loaded: {', '.join(f'{count} rows of {name}' for name, count in added.items())}")

    def verify(self, names: list[str], timeout_s: float, say: Say) -> dict[str, Any]:
        """Once every table is captured; the result also lies in S3, beside those of before."""
        wait(lambda: not self._missing(), NOT_CAPTURED, CAPTURED_WITHIN_S)
        login = ["--jdbc-url", self.sheet().source, "--user", steps.VERIFY_USER]
        more = ["--timeout-s", str(timeout_s), *(["--tables", ",".join(names)] if names else [])]
        return self.run("verify", [*self._config(), *login, *more], say, timeout_s + RUN_WITHIN_S)

    def _missing(self) -> list[str]:
        """The tables of the definition that no job has committed yet."""
        wanted = [(one.database, table) for one in self._databases for table in one.tables]
        names = {f"{database}_{kind}.{table.name}" for database, table in wanted for kind in table.types}
        reported = [pair for one in self.reports().values() for pair in one.get("tables", {}).items()]
        found = {name for name, facts in reported if facts.get("committed_at")}
        return sorted(names - found)

    # --- Jobs.

    def find_sheet(self) -> Sheet | None:
        """None before the jobs are deployed."""
        ssm = self.account.client("ssm")
        try:
            text = ssm.get_parameter(Name=steps.parameter(self.name))["Parameter"]["Value"]
        except ClientError as error:
            if code(error) != "ParameterNotFound":
                raise
            return None
        return Sheet(**json.loads(text))

    def sheet(self) -> Sheet:
        """LakeError before the jobs are deployed."""
        found = self.find_sheet()
        if found is None:
            now = f"run: npx cdk deploy --all -c env={self.name}"
            raise LakeError(f"{self.name} is not deployed", f"region {self.account.region}", now)
        return found

    def cluster(self, sheet: Sheet) -> Cluster:
        return Cluster(self.account, sheet.cluster, sheet.runner)

    def start(self, job: str) -> str:
        """The id of the step that starts a job of the environment in place of the one that runs."""
        sheet = self.sheet()
        return self.cluster(sheet).submit(job, steps.start(job, self.environment.processing.jobs[job], sheet))

    def start_streamer(self, wish: Wish) -> str:
        """The id of the step that starts HoodieStreamer in place of the one that runs."""
        sheet = self.sheet()
        return self.cluster(sheet).submit(
            STREAMER, steps.start_streamer(wish, self.environment.processing.streamer, sheet)
        )

    def stream_once(self, wish: Wish, say: Say) -> dict[str, Any]:
        """The result of one round of HoodieStreamer."""
        words = [*self._config(), *steps.streamer_words(wish, self.sheet())]
        return self.run(STREAMER, words, say, STREAM_WITHIN_S, f"{STREAMER}-once")

    def stop(self, job: str, sheet: Sheet) -> str:
        """The id of the step that ends a continuous job."""
        return self.cluster(sheet).submit(f"stop {job}", steps.stop(job, sheet))

    def run(self, script: str, arguments: Sequence[str], say: Say, timeout_s: float, name: str = "") -> dict[str, Any]:
        """The result that a job left in S3; BadInput when it refused its input, LakeError when it failed."""
        sheet = self.sheet()
        key = f"{STATE}/results/{script}-{uuid4()}.json"
        output = f"s3://{sheet.places['artifacts']}/{key}"
        cluster = self.cluster(sheet)
        name = name or script
        id = cluster.submit(name, steps.run(script, sheet, [*arguments, "--output", output]))
        failure = None
        try:
            cluster.wait(id, say, timeout_s)
        except LakeError as error:  # a job that refused its input failed, too, but says why in its result
            failure = error
        content = self.account.read_json(sheet.places["artifacts"], key)
        if failure and not content:
            raise failure
        if not content:
            raise LakeError(f"{name} left no result", output, f"see: lake jobs logs {name} --env {self.name}")
        if "error" in content:
            raise BadInput(content["error"], f"lake {script}", "correct it")
        return {**content, "result": output}

    def _config(self) -> list[str]:
        """The pipeline file of the job that writes the tables."""
        (job,) = [name for name, one in self.environment.processing.jobs.items() if "silver" in one.layers]
        return ["--config", self.sheet().remembered(job, "pipeline.json")]

    def topics(self, say: Say = silent) -> list[dict[str, Any]]:
        """What Kafka holds of each captured table."""
        found: list[dict[str, Any]] = self.run("topics", self._config(), say, RUN_WITHIN_S)["topics"]
        return found

    def reports(self) -> dict[str, dict[str, Any]]:
        """What each job of the environment last said of itself; {} for one that never did."""
        return {name: self.report(name) for name in self.environment.processing.jobs}

    def report(self, job: str) -> dict[str, Any]:
        """What a continuous job last said of itself; {} when it never did."""
        sheet = self.find_sheet()
        return self.account.read_json(sheet.places["artifacts"], f"{STATE}/{job}/status.json") if sheet else {}

    # --- The mark of a rebuild.

    @property
    def _mark(self) -> str:
        return f"/lake/{self.name}/rebuilding"

    def rebuilding(self) -> bool:
        found = self.account.client("ssm").get_parameters(Names=[self._mark])["Parameters"]
        return bool(found)

    def mark_rebuilding(self, on: bool) -> None:
        ssm = self.account.client("ssm")
        if on:
            ssm.put_parameter(Name=self._mark, Value="true", Type="String", Overwrite=True)
        else:
            ssm.delete_parameters(Names=[self._mark])


def _part_of(arn: str, names: set[str]) -> bool:
    """Whether an ARN names something that a stack has: by its name, or by a part of it."""
    last = arn.rpartition(":")[2]
    return arn in names or last in names or not names.isdisjoint(last.split("/"))
