"""Lambda: starts the continuous jobs of a cluster again that ended by themselves. A schedule calls it.

YARN starts the driver of a job again, but gives up when it fails too often. Then the job reports nothing more. This
function adds the step once more that started the job last. A job that a person stopped stays stopped. A job that was
started LIMIT times within WINDOW is left alone: the function fails, and its alarm calls a person.

Environment: CLUSTER (id), BUCKET and STATUS (the key of a job's report, with {job}), JOBS (names, with commas).
"""

import os
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3

Step = dict[str, Any]

SILENCE = timedelta(minutes=15)  # longer than a start takes, and than a driver that YARN starts again
LIMIT, WINDOW = 4, timedelta(hours=6)
ALIVE = ("RUNNING", "WAITING")
ENDED = ("COMPLETED", "FAILED")  # not CANCELLED or INTERRUPTED: a person did that


class GaveUp(Exception):
    """A job was started too often."""


def handler(event: object, context: object) -> list[str]:
    """The names of the jobs that were started again."""
    region, cluster = os.environ["AWS_REGION"], os.environ["CLUSTER"]
    emr, s3 = boto3.client("emr", region_name=region), boto3.client("s3", region_name=region)
    if emr.describe_cluster(ClusterId=cluster)["Cluster"]["Status"]["State"] not in ALIVE:
        return []
    now = datetime.now(UTC)
    steps = [one for page in emr.get_paginator("list_steps").paginate(ClusterId=cluster) for one in page["Steps"]]
    ended = [job for job in os.environ["JOBS"].split(",") if has_ended(job, steps, now) and is_silent(job, s3, now)]
    tired = [job for job in ended if starts(job, steps, now) >= LIMIT]
    for job in ended:
        if job not in tired:
            emr.add_job_flow_steps(JobFlowId=cluster, Steps=[again(job, steps)])
    if tired:
        raise GaveUp(f"not started again after {LIMIT} starts in {WINDOW}: {', '.join(tired)}; see: lake jobs logs")
    return ended


def has_ended(job: str, steps: list[Step], now: datetime) -> bool:
    """True if the newest step about the job started it, and was done long ago."""
    newest = next((one for one in steps if one["Name"] in (job, f"stop {job}")), None)
    if newest is None or newest["Name"] != job or newest["Status"]["State"] not in ENDED:
        return False
    ended: datetime = newest["Status"]["Timeline"]["EndDateTime"]
    return now - ended > SILENCE


def is_silent(job: str, s3: Any, now: datetime) -> bool:
    """True if the job has not written its report for long. A list needs no right to read the report."""
    key = os.environ["STATUS"].format(job=job)
    found = s3.list_objects_v2(Bucket=os.environ["BUCKET"], Prefix=key).get("Contents", [])
    return all(now - one["LastModified"] > SILENCE for one in found if one["Key"] == key)


def starts(job: str, steps: list[Step], now: datetime) -> int:
    """How often the job was started of late, by whomever."""
    times = [one["Status"]["Timeline"]["CreationDateTime"] for one in steps if one["Name"] == job]
    return len([time for time in times if now - time < WINDOW])


def again(job: str, steps: list[Step]) -> Step:
    """The step that started the job last, to be added once more."""
    last = next(one for one in steps if one["Name"] == job)
    jar = {"Jar": last["Config"]["Jar"], "Args": last["Config"]["Args"]}
    return {"Name": job, "ActionOnFailure": "CONTINUE", "HadoopJarStep": jar}
