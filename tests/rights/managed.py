"""What else runs on AWS with a role of ours: functions of Lambda, tasks of ECS, job runs of EMR Serverless."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from iam.roles import ACCOUNT, HASH, REGION, Stacks
from lake.aws import runs, steps
from lake.aws.processing import STREAMER
from tests.rights import s3_calls
from tests.rights.judge import Call
from tests.rights.lakes import Lake
from tests.rights.programs import NODES, Machines, last_line, parameters

RUNNER = Path(__file__).parent / "lambda_runner.py"
OURS = re.compile(r"(?:^|\.)(job_run|report_jobs|restart_jobs|run_task)\.handler$")
EVENT = {"StackId": "s", "RequestId": "r", "LogicalResourceId": "l", "ResponseURL": "http://nowhere"}
ON_S3 = re.compile(r"s3://[^\s\",]+")
WRITES_LOGS = ("logs:CreateLogStream", "logs:PutLogEvents")


def run_functions(lake: Lake, machines: Machines) -> Iterator[str]:
    """Each function of ours with each event that the stacks have for it; the failures."""
    for stack, id, properties in lake.stacks.of_type("AWS::Lambda::Function"):
        found = OURS.search(properties.get("Handler", ""))
        if found:
            given = lake.stacks.resolve(stack, properties.get("Environment", {}).get("Variables", {}))
            arn = lake.stacks.resolve(stack, {"Fn::GetAtt": [id, "Arn"]})
            for event in list(events(lake.stacks, arn)) or [{}]:
                yield from run_function(machines, found[1], role_in(properties["Role"]), given, event)


def events(stacks: Stacks, function: str) -> Iterator[dict[str, Any]]:
    """Of its custom resources: each is made, and then deleted."""
    for kind in ("Custom::LakeJobRun", "AWS::CloudFormation::CustomResource"):
        for stack, _, properties in stacks.of_type(kind):
            resolved = stacks.resolve(stack, properties)
            if resolved["ServiceToken"] == function:
                for word in ("Create", "Delete"):
                    yield {**EVENT, "RequestType": word, "ResourceProperties": resolved}


def run_function(
    machines: Machines, name: str, role: str, given: dict[str, str], event: dict[str, Any]
) -> Iterator[str]:
    variables = {**machines.variables(role), "AWS_REGION": REGION, "POLL_S": "0", **given}
    command = [sys.executable, str(RUNNER), name]
    done = subprocess.run(command, input=json.dumps(event), env=variables, capture_output=True, text=True)
    if done.returncode:
        yield f"{name}: {last_line(done)}"


def run_tasks(lake: Lake, machines: Machines) -> Iterator[str]:
    """The container of each task that fetches files and secrets; the failures."""
    for stack, _, properties in lake.stacks.of_type("AWS::ECS::TaskDefinition"):
        first = lake.stacks.resolve(stack, properties["ContainerDefinitions"][0])
        given = {one["Name"]: one["Value"] for one in first["Environment"]}
        with TemporaryDirectory() as place:
            shell, option, script = first["EntryPoint"]
            here = re.sub(r"(?<![\w/])/(run/lake|tmp)\b", lambda found: f"{place}/{found[1]}", script)
            for name in ("run/lake", "tmp"):
                (Path(place) / name).mkdir(parents=True)
            variables = {**machines.variables(role_in(properties["TaskRoleArn"])), **given}
            done = subprocess.run([shell, option, here], env=variables, capture_output=True, text=True)
        if done.returncode:
            yield f"{first['Name']}: {last_line(done)}"


def fetched_by_runs(lake: Lake) -> Iterator[Call]:
    """What EMR Serverless reads with the role of the jobs, for each run of the deployment and of the command line."""
    if "serverless" not in lake.choices:
        return
    started = [json.loads(lake.stacks.resolve(stack, one["Run"])) for stack, _, one in job_runs(lake.stacks)]
    outputs = steps.StackOutputs(**json.loads(parameters(lake.stacks)[steps.parameter(lake.environment.name)]))
    ending = [script for script in outputs.scripts if script not in ("stream", STREAMER)]
    for request in [*started, *(runs.run(script, outputs, []) for script in ending)]:
        for url in ON_S3.findall(json.dumps(request)):
            bucket, _, key = url.removeprefix("s3://").partition("/")
            if key:
                yield from s3_calls.of(lake.role(NODES), "GET", bucket, key, {})


def job_runs(stacks: Stacks) -> Iterator[tuple[str, str, dict[str, Any]]]:
    return stacks.of_type("Custom::LakeJobRun")


def logged(lake: Lake) -> Iterator[Call]:
    """What Lambda does with the role of a function of ours, and ECS with the role that starts a task."""
    for stack, _, properties in lake.stacks.of_type("AWS::Lambda::Function"):
        if OURS.search(properties.get("Handler", "")):
            group = lake.stacks.resolve(stack, properties["LoggingConfig"]["LogGroup"])
            yield from writes_logs(role_in(properties["Role"]), group)
    for stack, _, properties in lake.stacks.of_type("AWS::ECS::TaskDefinition"):
        for container in lake.stacks.resolve(stack, properties["ContainerDefinitions"]):
            group = container["LogConfiguration"]["Options"]["awslogs-group"]
            yield from writes_logs(role_in(properties["ExecutionRoleArn"]), group)


def writes_logs(role: str, group: str) -> Iterator[Call]:
    for action in WRITES_LOGS:
        yield Call(role, action, f"arn:aws:logs:{REGION}:{ACCOUNT}:log-group:{group}:log-stream:x")


def role_in(reference: dict[str, Any]) -> str:
    return HASH.sub("", reference["Fn::GetAtt"][0])
