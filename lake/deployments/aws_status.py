"""The status of a lake on AWS: stacks, cluster, jobs and tables."""

import time
from collections.abc import Iterator
from typing import Any

from lake.aws.processing import STREAMER
from lake.clients.table_status import TableStatus, of_report
from lake.deployments.aws_jobs import FRESH_S, AwsJobs
from lake.deployments.cluster import ALIVE
from lake.deployments.deployment import Job, Status
from lake.deployments.stacks import Stacks
from lake.deployments.steps import Steps


def look(steps: Steps, stacks: Stacks, jobs: AwsJobs) -> Status:
    """The current status from CloudFormation, EMR and the jobs."""
    outputs = steps.find_outputs()
    facts: dict[str, Any] = {
        "stacks": stacks.statuses(),
        "cluster": steps.cluster(outputs).state() if outputs else "absent",
        "jobs": [one for one in jobs.all() if one.continuous],
        "tables": sorted(_tables(steps), key=lambda one: one.name),
    }
    healthy = _healthy(**facts)
    return Status(healthy, {**facts, "healthy": healthy})


def _tables(steps: Steps) -> Iterator[TableStatus]:
    for one in steps.reports().values():
        if one:
            yield from of_report(one["tables"], max(0.0, time.time() - one["at"]), FRESH_S)


def _healthy(stacks: dict[str, str], cluster: str, jobs: list[Job], tables: list[TableStatus]) -> bool:
    """True if all stacks are complete, and all jobs and tables run."""
    complete = all(one.endswith("_COMPLETE") and "ROLLBACK" not in one for one in stacks.values())
    # HoodieStreamer is started and stopped by hand: it may be stopped.
    states = [one.state for one in jobs if (one.name, one.state) != (STREAMER, "stopped")]
    runs = {*states, *(one.state for one in tables)} == {"running"}
    return bool(stacks) and complete and cluster in ALIVE and runs
