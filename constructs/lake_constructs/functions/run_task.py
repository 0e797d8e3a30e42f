"""Lambda: runs a task of ECS once at a deployment, and answers CloudFormation when the task has ended.

A custom resource calls it. Its properties: Cluster and Definition (ARNs), Subnets and Groups (ids), Log (the name of
the group with the output). A task that fails, or does not end in time, fails the deployment. A deletion runs nothing.
"""

import json
import os
import time
import urllib.request
from collections.abc import Mapping
from typing import Any

import boto3

POLL_S = 5.0
TO_ANSWER_MS = 20_000  # an answer that is late lets the deployment hang for an hour


class Failed(Exception):
    """The task did not do its work."""


def handler(event: dict[str, Any], context: Any) -> None:
    """Sends the result to the URL of the event, whatever happens."""
    status, reason = "SUCCESS", ""
    try:
        if event["RequestType"] != "Delete":
            run(event["ResourceProperties"], context)
    except Exception as problem:
        status, reason = "FAILED", str(problem)
    answer(event, status, reason)


def run(wanted: Mapping[str, Any], context: Any) -> None:
    """Failed unless all containers of the task end with 0."""
    ecs = boto3.client("ecs", region_name=os.environ["AWS_REGION"])
    network = {"subnets": wanted["Subnets"], "securityGroups": wanted["Groups"], "assignPublicIp": "DISABLED"}
    started = ecs.run_task(
        cluster=wanted["Cluster"],
        taskDefinition=wanted["Definition"],
        launchType="FARGATE",
        networkConfiguration={"awsvpcConfiguration": network},
    )
    if not started["tasks"]:
        raise Failed(f"ECS did not start the task: {started['failures']}")
    task = ended(ecs, wanted["Cluster"], started["tasks"][0]["taskArn"], context)
    codes = {one["name"]: one.get("exitCode") for one in task["containers"]}
    if set(codes.values()) != {0}:
        why = task.get("stoppedReason", "")
        raise Failed(f"the task ended with {codes}: {why}; see the log group {wanted['Log']}, then deploy again")


def ended(ecs: Any, cluster: str, arn: str, context: Any) -> dict[str, Any]:
    """The task once it has stopped."""
    while context.get_remaining_time_in_millis() > TO_ANSWER_MS:
        found = ecs.describe_tasks(cluster=cluster, tasks=[arn])["tasks"]
        if found and found[0]["lastStatus"] == "STOPPED":
            return dict(found[0])
        time.sleep(POLL_S)
    raise Failed(f"the task {arn} did not end in time; see its log, then deploy again")


def answer(event: Mapping[str, Any], status: str, reason: str) -> None:
    content = {
        "Status": status,
        "Reason": reason or "done",
        "PhysicalResourceId": event["LogicalResourceId"],
        **{key: event[key] for key in ("StackId", "RequestId", "LogicalResourceId")},
    }
    request = urllib.request.Request(event["ResponseURL"], json.dumps(content).encode(), method="PUT")
    with urllib.request.urlopen(request, timeout=10):
        pass
