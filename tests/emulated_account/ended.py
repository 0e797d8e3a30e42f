"""A demonstration whose cluster ended itself, and gets another; and a job that YARN gave up. Played once."""

import importlib.util
import re
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from lake.config.errors import LakeError
from tests.emulated_account.account import Account
from tests.emulated_account.command import Cdk, Done
from tests.emulated_account.operator import as_operator, lake_of, quiet, refused
from tests.emulated_account.sight import statuses
from tests.emulated_account.story import HOME, succeeded
from tests.synth.synthesis import Synthesized, synthesize

PARAMETERS = re.compile(r"--parameters (\S+)")


@dataclass(frozen=True)
class Ended:
    """What was seen; clusters and steps by their ids."""

    first: str
    refused: str
    state: str
    status: str
    unfinished: set[str]
    deployed: Done
    second: str
    watched: str
    steps: list[str]
    same: Done
    stacks: dict[str, str]
    started_again: list[str]
    arguments: list[list[str]]
    given_up: str
    after_a_stop: list[str]


def end(account: Account) -> Ended:
    cdk, demo = Cdk(account, HOME), synthesize("demo")
    succeeded(cdk.bootstrap())
    succeeded(cdk.deploy(demo.folder))
    with as_operator(account):
        lake = lake_of("demo")
        first = lake.steps.outputs().cluster
        emr = account.client("emr", HOME)
        emr.terminate_job_flows(JobFlowIds=[first])
        refusal = refused(lambda: lake.jobs.submit("stream", quiet), LakeError)
        state, status = lake.steps.cluster().state(), lake.jobs.all()[0].reason
        unfinished = {one.state for one in lake.steps.cluster().steps()}
        deployed = succeeded(cdk.deploy(demo.folder, parameters=PARAMETERS.findall(refusal)))
        second = lake.steps.outputs().cluster
        steps = [one.name for one in lake.steps.cluster().steps()]
        same, stacks, watched = cdk.diff(demo.folder), statuses(account, HOME, "lake-demo"), watched_cluster(account)
        restarted = _restart(account, demo, second)
    succeeded(cdk.destroy(demo.folder))
    seen = (first, refusal, state, status, unfinished, deployed, second, watched, steps, same, stacks)
    return Ended(*seen, *restarted)


def watched_cluster(account: Account) -> str:
    """The cluster whose failures notify people."""
    events = account.client("events", HOME)
    patterns = [one.get("EventPattern", "") for one in events.list_rules()["Rules"]]
    return "".join({found for pattern in patterns for found in re.findall(r"j-[A-Z0-9]+", pattern)})


def _restart(account: Account, demo: Synthesized, cluster: str) -> tuple[Any, ...]:
    """The function as it was deployed, with its variables, called until it gives up; time passes quickly."""
    function = deployed_function(account, demo)
    emr = account.client("emr", HOME)
    look(emr, cluster)
    started = function.handler({}, None)
    arguments = [one["Config"]["Args"] for one in look(emr, cluster)]
    with pytest.raises(function.GaveUp) as raised:
        for _ in range(function.LIMIT):
            function.handler({}, None)
            look(emr, cluster)
    lake_of("demo").jobs.stop("stream", quiet)
    return started, arguments, str(raised.value), function.handler({}, None)


def look(emr: Any, cluster: str) -> list[dict[str, Any]]:
    """The steps; a look at a step takes it further, so that after some all are done."""
    for _ in range(3):
        steps = emr.list_steps(ClusterId=cluster)["Steps"]
    return list(steps)


def deployed_function(account: Account, demo: Synthesized) -> Any:
    """The module of the function, from the uploaded file and with the deployed variables."""
    (wanted,) = [one for _, one in demo.resources("AWS::Lambda::Function") if one["Handler"] == "restart_jobs.handler"]
    (code,) = demo.folder.glob(f"asset.{Path(wanted['Code']['S3Key']).stem}/restart_jobs.py")
    functions = account.client("lambda", HOME).list_functions()["Functions"]
    (deployed,) = [one for one in functions if one["Handler"] == wanted["Handler"]]
    spec = importlib.util.spec_from_file_location("restart_jobs", code)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.os = Surroundings({**deployed["Environment"]["Variables"], "AWS_REGION": HOME})  # type: ignore[attr-defined]
    module.SILENCE = timedelta(seconds=-2)  # type: ignore[attr-defined]  # the account rounds times
    return module


@dataclass(frozen=True)
class Surroundings:
    """The part of the module os that the function uses."""

    environ: dict[str, str]
