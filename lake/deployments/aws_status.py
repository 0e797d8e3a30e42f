"""What runs of a lake on AWS: stacks, cluster, jobs and tables."""

import time
from dataclasses import asdict, dataclass
from typing import Any

from lake.aws.processing import STREAMER
from lake.clients.table_status import TableStatus, of_report
from lake.deployments.aws import AwsPlace
from lake.deployments.aws_jobs import FRESH_S, AwsJobs
from lake.deployments.cluster import ALIVE
from lake.deployments.jobs import Job


@dataclass(frozen=True)
class AwsStatus:
    """stacks: CloudFormation's words by part; cluster: EMR's word, "absent" where there is none."""

    stacks: dict[str, str]
    cluster: str
    jobs: list[Job]
    tables: list[TableStatus]

    @property
    def healthy(self) -> bool:
        """Whether all stacks stand, and all jobs and tables run."""
        standing = all(one.endswith("_COMPLETE") and "ROLLBACK" not in one for one in self.stacks.values())
        # HoodieStreamer is started and stopped by hand: stopped, it lacks nothing.
        jobs = [one for one in self.jobs if (one.name, one.state) != (STREAMER, "stopped")]
        runs = {one.state for one in jobs} | {one.state for one in self.tables} == {"running"}
        return bool(self.stacks) and standing and self.cluster in ALIVE and runs

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "healthy": self.healthy}


def look(place: AwsPlace) -> AwsStatus:
    """What CloudFormation, EMR and the jobs say now."""
    sheet = place.find_sheet()
    cluster = place.cluster(sheet).state() if sheet else "absent"
    jobs = [one for one in AwsJobs(place).all() if one.continuous]
    reports = [one for one in place.reports().values() if one]
    now = time.time()
    tables = [table for one in reports for table in of_report(one["tables"], max(0.0, now - one["at"]), FRESH_S)]
    return AwsStatus(place.stacks.statuses(), cluster, jobs, sorted(tables, key=lambda one: one.name))
