"""The status of a lake on AWS: stacks, cluster, jobs and tables."""

import time
from collections.abc import Iterator
from typing import Any

from lake.aws.processing import STREAMER
from lake.clients.table_status import TableStatus, of_report
from lake.deployments.aws_jobs import AwsJobs
from lake.deployments.deployment import Job, Status
from lake.deployments.runner import FRESH_S
from lake.deployments.stacks import Stacks
from lake.deployments.steps import Steps


def look(steps: Steps, stacks: Stacks, jobs: AwsJobs) -> Status:
    """The current status from CloudFormation, EMR and the jobs."""
    outputs = steps.find_outputs()
    cluster = steps.cluster(outputs) if outputs else None
    state = cluster.state() if cluster else "absent"
    facts: dict[str, Any] = {
        "stacks": stacks.statuses(),
        "cluster": state,
        "jobs": [one for one in jobs.all() if one.continuous],
        "tables": sorted(_tables(steps), key=lambda one: one.name),
    }
    alive = cluster is not None and state in cluster.alive
    healthy = alive and _healthy(facts["stacks"], facts["jobs"], facts["tables"])
    return Status(healthy, {**facts, "healthy": healthy})


def _tables(steps: Steps) -> Iterator[TableStatus]:
    for one in steps.reports().values():
        if one:
            yield from of_report(one["tables"], max(0.0, time.time() - one["at"]), FRESH_S)


def _healthy(stacks: dict[str, str], jobs: list[Job], tables: list[TableStatus]) -> bool:
    """True if all stacks are complete, and all jobs and tables run."""
    complete = all(one.endswith("_COMPLETE") and "ROLLBACK" not in one for one in stacks.values())
    # HoodieStreamer is started and stopped by hand: it may be stopped.
    states = [one.state for one in jobs if (one.name, one.state) != (STREAMER, "stopped")]
    runs = {*states, *(one.state for one in tables)} == {"running"}
    return bool(stacks) and complete and runs
