"""What EMR and its nodes fetch to run a step: from our own buckets only, and the nodes may read each of it."""

import fnmatch
import json
import re
from collections.abc import Iterator
from typing import Any

from lake.aws import steps
from lake.aws.environment import load_aws_environment
from lake.config.environment import PROJECT
from lake.rendering.streamer import RunOptions
from tests.synth.rights import allowed, text
from tests.synth.synthesis import Synthesized

URL = re.compile(r"s3://([^/,|\"\s]+)(?:/([^,|\"\s]*))?")
ASSETS = re.compile(r"cdk-\w+-assets-AWS::AccountId-[a-z0-9-]+")  # the CDK's own, of the account
MARKS = str.maketrans("", "", "<>${}")  # around what is known at deployment only


def urls(words: list[str]) -> set[tuple[str, str]]:
    """Bucket and key of every object that a command names."""
    return {(found[1], found[2] or "") for word in words for found in URL.finditer(word.translate(MARKS))}


def templated_steps(lake: Synthesized) -> Iterator[list[str]]:
    for _, step in lake.resources("AWS::EMR::Step"):
        jar = step["HadoopJarStep"]
        yield [text(jar["Jar"]), *(text(one) for one in jar["Args"])]


def started_by_hand(lake: Synthesized) -> Iterator[list[str]]:
    """The steps of the command line, from what the stack tells it."""
    parameters = {one.get("Name"): one["Value"] for _, one in lake.resources("AWS::SSM::Parameter")}
    outputs = steps.StackOutputs(**json.loads(text(parameters[steps.parameter(lake.name)])))
    processing = load_aws_environment(PROJECT, lake.name).processing
    commands = [steps.start(name, job, outputs) for name, job in processing.jobs.items()]
    commands += [steps.stop(name, outputs) for name in processing.jobs]
    commands += [steps.run(script, outputs, ["--config", "x"]) for script in outputs.scripts]
    commands.append(steps.start_streamer(RunOptions(), processing.streamer, outputs))
    return ([steps.RUNNER, *command] for command in commands)


def bootstrap(lake: Synthesized) -> Iterator[list[str]]:
    for one in lake.only("AWS::EMR::Cluster")["BootstrapActions"]:
        action = one["ScriptBootstrapAction"]
        yield [text(action["Path"]), *(text(word) for word in action["Args"])]


def commands(lake: Synthesized) -> list[list[str]]:
    return [*templated_steps(lake), *started_by_hand(lake), *bootstrap(lake)]


def own_buckets(lake: Synthesized) -> dict[str, str]:
    """ARN of each bucket of the lake by its name, both as other stacks import them."""
    outputs = lake.templates["storage"]["Outputs"].values()
    values = {json.dumps(one["Value"]): text(one["Export"]["Name"]).partition(":")[2] for one in outputs}
    buckets = [id for id, one in lake.templates["storage"]["Resources"].items() if one["Type"] == "AWS::S3::Bucket"]
    names = {id: imported(values, {"Ref": id}) for id in buckets}
    return {names[id]: imported(values, {"Fn::GetAtt": [id, "Arn"]}) for id in buckets if names[id]}


def imported(values: dict[str, str], value: Any) -> str:
    return values.get(json.dumps(value), "")


def test_a_step_runs_a_jar_of_the_node(lake: Synthesized) -> None:
    """A jar of S3 is read with the rights of the nodes, which hold no bucket of AWS's."""
    assert {command[0] for command in [*templated_steps(lake), *started_by_hand(lake)]} == {"command-runner.jar"}


def test_no_command_names_a_bucket_that_is_not_ours(lake: Synthesized) -> None:
    found = {bucket for command in commands(lake) for bucket, _ in urls(command)}
    own = own_buckets(lake)
    assert own and found
    assert {bucket for bucket in found if bucket not in own and not ASSETS.fullmatch(bucket)} == set()


def test_no_template_names_a_bucket_of_emr(lake: Synthesized) -> None:
    assert [part for part, one in lake.templates.items() if ".elasticmapreduce/" in json.dumps(one)] == []


def test_the_nodes_may_read_whatever_a_command_names(lake: Synthesized) -> None:
    rights = allowed(lake.templates["processing"], "Nodes", "s3")["GetObject"]
    readable = [one.translate(MARKS) for one in rights]
    own = own_buckets(lake)
    wanted = {
        f"{own.get(bucket, f'arn:aws:s3:::{bucket}')}/{key}" for one in commands(lake) for bucket, key in urls(one)
    }
    assert {url for url in wanted if not any(fnmatch.fnmatchcase(url, one) for one in readable)} == set()
