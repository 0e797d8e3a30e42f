"""The existing resources of a lake on AWS, and their deletion."""

from collections.abc import Iterator

from lake.aws.environment import AwsEnvironment
from lake.aws.part import LAKE_TAG
from lake.aws.processing import STREAMER
from lake.aws.rendering import table_topics
from lake.config.definition import Database
from lake.config.errors import LakeError
from lake.config.report import Report
from lake.deployments import log_groups
from lake.deployments.account import Account, wait
from lake.deployments.already_deleted import is_already_deleted
from lake.deployments.buckets import empty
from lake.deployments.deployment import Resource
from lake.deployments.stacks import LOST, PARTS, Stacks
from lake.deployments.steps import Steps
from lake.sources.engines import engine_of

STOP_WITHIN_S = 600.0
DATA_BUCKETS = ("Bronze", "Silver")  # how their logical ids begin
STORAGE = "storage"
OUTSIDE = "outside of the stacks"
# Stacks that write to buckets: nothing may arrive in a bucket that was emptied.
BEFORE_BUCKETS = ("operations", "processing", "connect")


class AwsResources:
    """The stacks of one environment, and all that carries its tag."""

    def __init__(self, environment: AwsEnvironment, databases: list[Database]) -> None:
        self.environment, self.databases = environment, databases
        self.account = Account(environment.region)
        self.stacks = Stacks(self.account, environment.name)
        self.steps = Steps(self.account, environment, databases)

    def resources(self) -> list[Resource]:
        found = self.stacks.resources()
        names = {one.name for one in found}
        tagged = [one for one in self._tagged() if not _part_of(one.name, names)]
        kind, shown = "AWS::Logs::LogGroup", {one.name.partition(":log-group:")[2] for one in tagged}
        logs = [Resource(OUTSIDE, kind, name, LOST[kind]) for name in self._made_by_aws(names) if name not in shown]
        return [*found, *tagged, *logs, *self._in_the_source(), *self._in_kafka()]

    def _made_by_aws(self, names: set[str]) -> list[str]:
        """Log groups that no stack has."""
        return [name for name in log_groups.found(self.account, self.environment.name) if name not in names]

    def _in_the_source(self) -> list[Resource]:
        """What stays in an existing database and retains its log. It cannot be seen from outside its network."""
        existing = self.environment.source.existing
        if not existing:
            return []
        names = [name for one in self.databases for name in engine_of(one).capture.objects(one)]
        return [Resource(f"the database {existing.host}", "to be dropped by hand:", name, "", True) for name in names]

    def _in_kafka(self) -> list[Resource]:
        """The topics that stay in an existing cluster."""
        existing = self.environment.streaming.existing
        if not existing:
            return []
        own = [f"{self.environment.connect_group}-*"]
        names = [*table_topics(self.databases), *(one.heartbeat_topic for one in self.databases), *own]
        return [
            Resource(f"the brokers {existing.name}", "topics to be deleted by hand:", one, "", True) for one in names
        ]

    def _tagged(self) -> Iterator[Resource]:
        """All that carries the lake's tag, in a stack or not."""
        filters = {"TagFilters": [{"Key": LAKE_TAG, "Values": [self.environment.name]}]}
        service = "resourcegroupstaggingapi"
        for one in self.account.pages(service, "get_resources", "ResourceTagMappingList", **filters):
            arn = str(one["ResourceARN"])
            if not is_already_deleted(self.account, arn):
                yield Resource(OUTSIDE, arn.split(":")[2], arn, "", self.environment.keep_data)

    def is_retained(self, resource: Resource, keep_data: bool) -> bool:
        """--keep-data leaves the whole storage stack: without their key the objects would be lost."""
        return resource.stays or (keep_data and resource.where == f"lake-{self.environment.name}-{STORAGE}")

    def destroy(self, keep_data: bool, report: Report) -> None:
        databases = log_groups.databases(self.account, self.environment.name)
        self._stop_jobs(report)
        for part in BEFORE_BUCKETS:
            self.stacks.delete(part, report)
        if not self.environment.keep_data:
            for id, bucket in self.stacks.buckets().items():
                if not (keep_data and id.startswith(DATA_BUCKETS)):
                    empty(self.account, bucket, report)
        for part in reversed(PARTS):
            if part not in BEFORE_BUCKETS and not (keep_data and part == STORAGE):
                self.stacks.delete(part, report)
        log_groups.delete_streams(self.account, databases)
        log_groups.delete(self.account, self._made_by_aws({one.name for one in self.stacks.resources()}))

    def _stop_jobs(self, report: Report) -> None:
        """Stops all jobs, so that no commit is interrupted. A job that hangs ends with its cluster; Hudi rolls back."""
        outputs = self.steps.find_outputs()
        if outputs is None or (cluster := self.steps.cluster(outputs)).state() not in cluster.alive:
            return
        known = cluster.steps()
        for one in known:
            if not one.done:
                report(f"cancels {one.name}")
                cluster.cancel(one.id)
        streamer = [STREAMER] if any(one.name == STREAMER for one in known) else []
        for job in (*self.steps.continuous, *streamer):
            report(f"stops {job}")
            try:
                wait(lambda id=self.steps.stop(job): cluster.step(id).done, f"the end of {job}", STOP_WITHIN_S)  # type: ignore[misc]
            except LakeError as error:
                report(f"{job}: {error.what}; it ends with its cluster")


def _part_of(arn: str, names: set[str]) -> bool:
    """True if an ARN names something that a stack has: by its name, or by a part of it."""
    last = arn.rpartition(":")[2]
    return arn in names or last in names or not names.isdisjoint(last.split("/"))
