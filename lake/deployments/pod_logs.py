"""The logs of the services of a lake on AWS beside EMR, from CloudWatch: pods, or what runs without Kubernetes."""

import json
import time
from collections import deque
from collections.abc import Iterator
from typing import Any

from lake.aws.environment import AwsEnvironment
from lake.aws.service_logs import SERVICES, log_group
from lake.config.errors import BadInput
from lake.deployments.account import POLL_S, Account, code
from lake.deployments.cdk import not_deployed

WITHIN_MS = 24 * 3600 * 1000


def last(account: Account, lake: AwsEnvironment, pod: str, lines: int) -> list[str]:
    """The last lines of a day; LakeError without a deployment, BadInput if no service of that name logged anything."""
    since = int(time.time() * 1000) - WITHIN_MS
    found = list(deque((f"{text}\n" for _, text in _events(account, lake, pod, since)), lines))
    if not found and lines:
        now = f"name one of {', '.join(SERVICES)}; for jobs: lake jobs logs"
        raise BadInput(f"no service '{pod}' logged anything in a day", f"lake-{lake.name}", now)
    return found


def follow(account: Account, lake: AwsEnvironment, pod: str) -> Iterator[str]:
    """The lines that come, until Ctrl-C."""
    since = int(time.time() * 1000)
    while True:
        for at, text in _events(account, lake, pod, since):
            since = at + 1
            yield f"{text}\n"
        time.sleep(POLL_S)


def _events(account: Account, lake: AwsEnvironment, pod: str, since: int) -> Iterator[tuple[int, str]]:
    managed = lake.connect.kind == "msk_connect"
    group = log_group(lake.name, pod) if managed else f"/aws/containerinsights/{lake.kubernetes}/application"
    try:
        for one in account.pages("logs", "filter_log_events", "events", logGroupName=group, startTime=since):
            name, text = (pod, one["message"].rstrip()) if managed else _parsed(one["message"])
            if name.startswith(pod):
                yield int(one["timestamp"]), f"{name}: {text}"
    except Exception as error:
        if code(error) != "ResourceNotFoundException":
            raise
        raise not_deployed(lake.name, group) from None


def _parsed(message: str) -> tuple[str, str]:
    """The pod and its line: the agent writes both as JSON."""
    try:
        content: dict[str, Any] = json.loads(message)
        return str(content["kubernetes"]["pod_name"]), str(content["log"]).rstrip()
    except (ValueError, KeyError, TypeError):
        return "", message
