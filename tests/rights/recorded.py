"""All calls that the programs of one environment make."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from iam.roles import Account, Stacks, account, read
from lake.aws.environment import load_aws_environment
from tests.rights.endpoint import Endpoint, serving
from tests.rights.handlers import called
from tests.rights.implied import implied
from tests.rights.judge import Call
from tests.rights.listed import listed
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
from tests.synth.synthesis import ROOT, synthesize

REQUEST = json.dumps({"id": "1", "verb": "status", "arguments": {"names": []}}).encode()


@dataclass(frozen=True)
class Recorded:
    """calls: each once. failed: programs that ended with an error."""

    account: Account
    calls: list[Call]
    failed: list[str]


@cache
def record(name: str) -> Recorded:
    """Runs what can be run in seconds; the calls of Connect and of Spark's jobs were recorded (listed.py)."""
    folder = synthesize(name).folder
    stacks = read(folder)
    found = account(stacks)
    endpoint = Endpoint(assets(folder), parameters(stacks))
    with serving(endpoint) as url, TemporaryDirectory() as home:
        failed = run_all(Machines(endpoint, url, Path(home)), endpoint, stacks, folder, name)
    made = {
        *endpoint.calls,
        *listed(stacks, found, load_aws_environment(ROOT, name).processing),
        *called(stacks, found),
    }
    return Recorded(found, sorted({*made, *implied(stacks, made)}), failed)


def run_all(machines: Machines, endpoint: Endpoint, stacks: Stacks, folder: Path, name: str) -> list[str]:
    """The failures, one text each."""
    deployed = deployed_steps(stacks)
    wanted = [*deployed, *operated_steps(stacks, deployed[0].jar, name)]
    found = [attempt(machines.boot, *action) for action in bootstrap_actions(stacks)]
    found += [attempt(machines.run, step) for step in wanted]
    artifacts = next(one for one in stacks.ids("AWS::S3::Bucket") if "artifacts" in one)
    endpoint.objects[f"{artifacts}/connectors/requests/1.json"] = REQUEST
    found += [attempt(machines.run_pod, *pod) for pod in speaking_pods(stacks, folder)]
    return [failure for failure in found if failure]


def attempt(act: Callable[..., None], *what: Any) -> str:
    try:
        act(*what)
    except Failed as error:
        return str(error)
    return ""
