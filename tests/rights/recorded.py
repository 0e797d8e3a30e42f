"""All calls that the programs of one environment make."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from iam.roles import Account
from lake.aws.stack_outputs import remembered_key
from tests.rights.endpoint import Endpoint, serving
from tests.rights.handlers import called
from tests.rights.implied import implied
from tests.rights.judge import Call
from tests.rights.lakes import Lake, lake
from tests.rights.listed import listed
from tests.rights.managed import fetched_by_runs, logged, run_functions, run_tasks
from tests.rights.programs import (
    Failed,
    Machines,
    assets,
    bootstrap_actions,
    deployed_steps,
    operated_steps,
    parameters,
    speaking_pods,
)
from tests.rights.services import Services

# Of a verb that there is not: it is answered at once, while any other one waits a minute for Connect.
REQUEST = json.dumps({"id": "1", "verb": "none", "arguments": {"names": []}}).encode()


@dataclass(frozen=True)
class Recorded:
    """calls: each once. failed: programs that ended with an error."""

    account: Account
    calls: list[Call]
    failed: list[str]


@cache
def record(name: str) -> Recorded:
    """Runs what can be run in seconds; the calls of Connect and of Spark's jobs were recorded (listed.py)."""
    here = lake(name)
    services = Services(here.stacks, list(here.environment.processing.layered), here.environment.name)
    endpoint = Endpoint(assets(here.folder), parameters(here.stacks), services.answers())
    with serving(endpoint) as url, TemporaryDirectory() as home:
        failed = run_all(Machines(endpoint, url, Path(home)), endpoint, here)
    made = {
        *endpoint.calls,
        *listed(here),
        *called(here.stacks, here.account),
        *fetched_by_runs(here),
        *logged(here),
    }
    return Recorded(here.account, sorted({*made, *implied(here.stacks, made)}), failed)


def run_all(machines: Machines, endpoint: Endpoint, here: Lake) -> list[str]:
    """The failures, one text each."""
    stacks, artifacts = here.stacks, next(one for one in here.stacks.ids("AWS::S3::Bucket") if "artifacts" in one)
    deployed = deployed_steps(stacks)
    operated = operated_steps(stacks, deployed[0].jar, here.environment.name) if deployed else []
    found = [attempt(machines.boot, *action) for action in bootstrap_actions(stacks)]
    found += [attempt(machines.run, step) for step in (*deployed, *operated)]
    endpoint.objects[f"{artifacts}/connectors/requests/1.json"] = REQUEST
    found += [attempt(machines.run_pod, *pod) for pod in speaking_pods(stacks, here.folder)]
    for job in (
        here.environment.processing.layered if "serverless" in here.choices else ()
    ):  # on a cluster they are silent
        endpoint.objects[f"{artifacts}/{remembered_key(job, 'status.json')}"] = b"{}"
    found += [*run_functions(here, machines), *run_tasks(here, machines)]
    return [failure for failure in found if failure]


def attempt(act: Callable[..., None], *what: Any) -> str:
    try:
        act(*what)
    except Failed as error:
        return str(error)
    return ""
