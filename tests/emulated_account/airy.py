"""A lake on EMR Serverless: deployed, operated, changed, torn down; played once."""

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from lake.aws.environment import load_aws_environment
from lake.config.definition import load_databases
from lake.config.errors import LakeError
from lake.deployments.aws import AwsDeployment
from lake.deployments.deployment import Job, Resource, Status
from lake.deployments.teardown import teardown
from tests.emulated_account.account import Account
from tests.emulated_account.command import ROOT, Cdk, Done
from tests.emulated_account.inventory import inventory
from tests.emulated_account.operator import RESULT, TABLES, as_operator, quiet, refused, yes
from tests.emulated_account.sight import statuses
from tests.emulated_account.story import HOME, succeeded
from tests.synth.synthesis import Synthesized, changed, synthesize

NAME = "airy"
REASON = "AnalysisException: no such column"


@dataclass(frozen=True)
class Airy:
    """What was seen."""

    stacks: dict[str, str]
    application: dict[str, Any]
    same: Done
    before: list[Job]
    pipeline: dict[str, Any]
    status: Status
    deployed_run: dict[str, Any]
    resubmitted_run: dict[str, Any]
    submitted: Job
    ended: dict[str, str]
    failure: str
    failed_log: list[str]
    verified: dict[str, Any]
    stopped: Job
    another: dict[str, Any]
    moved: dict[str, list[str]]
    left: list[Resource]
    remains: set[str]


def be_airy(account: Account, folder: Path) -> Airy:
    cdk = Cdk(account, HOME)
    succeeded(cdk.bootstrap())
    before = inventory(account, HOME)
    lake = described(folder / "first", {})
    account.emr_serverless.acts = {"stream": reports(account), "verify": leaves(account, RESULT)}
    succeeded(cdk.deploy(lake.folder))
    same = cdk.diff(lake.folder)
    with as_operator(account):
        deployment = lake_in(folder / "first")
        seen = (statuses(account, HOME, f"lake-{NAME}"), application(account, deployment), same)
        operated = operate(account, deployment)
        other = described(folder / "second", {"limits": {"vcpus": 64, "memory_gb": 256}})
        succeeded(cdk.deploy(other.folder))
        moved = application(account, deployment), states(account)
        left = teardown(lake_in(folder / "second"), False, quiet, yes)
    everything: tuple[Any, ...] = (*seen, *operated, *moved, left, inventory(account, HOME) - before)
    return Airy(*everything)


def described(folder: Path, processing: dict[str, Any]) -> Synthesized:
    wanted = {"kind": "serverless", "release": "emr-7.10.0", **processing}
    content = {**changed("dev", {"processing": wanted}), "name": NAME}
    (folder / "environments").mkdir(parents=True)
    (folder / f"environments/{NAME}.yaml").write_text(yaml.safe_dump(content))
    return synthesize(NAME, folder)


def lake_in(folder: Path) -> AwsDeployment:
    return AwsDeployment(load_aws_environment(folder, NAME), load_databases(ROOT))


def operate(account: Account, deployment: AwsDeployment) -> tuple[Any, ...]:
    """What a person does with the jobs."""
    jobs, acts, emr = deployment.jobs, account.emr_serverless.acts, account.client("emr-serverless", HOME)
    before, status = jobs.all(), deployment.status()
    outputs = deployment.steps.outputs()
    bucket = outputs.places["artifacts"]
    pipeline = deployment.account.read_json(bucket, "state/stream/pipeline.json")
    deployed = wish(emr, outputs.cluster, before[0].id)
    submitted = jobs.submit("stream", quiet)
    again, ended = wish(emr, outputs.cluster, submitted.id), states_by_id(emr, outputs.cluster)
    acts["stream"] = fail
    failure = refused(lambda: jobs.submit("stream", quiet), LakeError)
    log = jobs.log("stream", 1)
    acts["stream"] = reports(account)
    jobs.submit("stream", quiet)
    verified = deployment.verify([], 60.0, quiet)
    stopped = jobs.stop("stream", quiet)
    jobs.submit("stream", quiet)
    return before, pipeline, status, deployed, again, submitted, ended, failure, log, verified, stopped


def reports(account: Account) -> Any:
    """The stream says that every table has a commit."""

    def act(arguments: list[str]) -> str:
        status = arguments[arguments.index("--config") + 1].replace("pipeline.json", "status.json")
        tables = {name: {"state": "running", "committed_at": 1.0} for name in TABLES}
        put(account, status, {"at": time.time(), "tables": tables})
        return "running\n"

    return act


def leaves(account: Account, content: dict[str, Any]) -> Any:
    """A job that ends leaves its result."""

    def act(arguments: list[str]) -> str:
        put(account, arguments[arguments.index("--output") + 1], content)
        return "done\n"

    return act


def fail(_: list[str]) -> str:
    raise ValueError(REASON)


def put(account: Account, url: str, content: dict[str, Any]) -> None:
    bucket, _, key = url.removeprefix("s3://").partition("/")
    account.client("s3", HOME).put_object(Bucket=bucket, Key=key, Body=json.dumps(content).encode())


def application(account: Account, deployment: AwsDeployment) -> dict[str, Any]:
    id = deployment.steps.outputs().cluster
    return dict(account.client("emr-serverless", HOME).get_application(applicationId=id)["application"])


def wish(emr: Any, application: str, run: str) -> dict[str, Any]:
    """What a run was started with."""
    found = emr.get_job_run(applicationId=application, jobRunId=run)["jobRun"]
    return {key: found[key] for key in ("name", "mode", "jobDriver", "tags", "executionRole")}


def states_by_id(emr: Any, application: str) -> dict[str, str]:
    return {one["id"]: one["state"] for one in emr.list_job_runs(applicationId=application)["jobRuns"]}


def states(account: Account) -> dict[str, list[str]]:
    """The runs that have not ended, by the name of their application; deleted ones are not there."""
    emr = account.client("emr-serverless", HOME)
    found = {}
    for one in emr.list_applications()["applications"]:
        runs = emr.list_job_runs(applicationId=one["id"])["jobRuns"]
        found[one["name"]] = [run["name"] for run in runs if run["state"] not in ("SUCCESS", "FAILED", "CANCELLED")]
    return found
