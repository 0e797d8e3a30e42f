"""The status of a lake on AWS: stacks, cluster, jobs and tables."""

import time
from dataclasses import asdict, dataclass
from typing import Any

from lake.aws.processing import STREAMER
from lake.clients.table_status import of_report
from lake.deployments.aws_jobs import FRESH_S, AwsJobs
from lake.deployments.cluster import ALIVE
from lake.deployments.deployment import Status
from lake.deployments.stacks import Stacks
from lake.deployments.steps import Steps


@dataclass(frozen=True)
class AwsStatus(Status):
    """stacks: CloudFormation's words by part. cluster: EMR's word, "absent" where there is none."""

    @property
    def healthy(self) -> bool:
        """True if all stacks are complete, and all jobs and tables run."""
        standing = all(one.endswith("_COMPLETE") and "ROLLBACK" not in one for one in self.stacks.values())
        # HoodieStreamer is started and stopped by hand: it may be stopped.
        jobs = [one for one in self.jobs if (one.name, one.state) != (STREAMER, "stopped")]
        runs = {one.state for one in jobs} | {one.state for one in self.tables} == {"running"}
        return bool(self.stacks) and standing and self.cluster in ALIVE and runs

    def as_json(self) -> dict[str, Any]:
        return {key: asdict(self)[key] for key in ("stacks", "cluster", "jobs", "tables")} | {"healthy": self.healthy}


def look(steps: Steps, stacks: Stacks, jobs: AwsJobs) -> AwsStatus:
    """What CloudFormation, EMR and the jobs say now."""
    outputs = steps.find_outputs()
    cluster = steps.cluster(outputs).state() if outputs else "absent"
    reports = [one for one in steps.reports().values() if one]
    now = time.time()
    tables = [table for one in reports for table in of_report(one["tables"], max(0.0, now - one["at"]), FRESH_S)]
    tables.sort(key=lambda one: one.name)
    continuous = [one for one in jobs.all() if one.continuous]
    return AwsStatus(continuous, tables, stacks=stacks.statuses(), cluster=cluster)
