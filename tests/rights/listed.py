"""Calls that are not made anew for each run of the tests, read from files and put into the terms of one environment.

recorded_calls.json: of Connect and of Spark's jobs; tests/integration/test_iam.py records and compares them.
platform_calls.yaml: of AWS's own agents with a role of ours, by AWS's documentation.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import yaml

from iam.roles import ACCOUNT, HASH, REF_IS_ARN, REGION, Account, Stacks
from tests.rights.judge import Call
from tests.rights.lakes import Lake

FOLDER = Path(__file__).parent
RECORDED, PLATFORM = FOLDER / "recorded_calls.json", FOLDER / "platform_calls.yaml"
NAMED = re.compile(r"^\{(\w+)\}")  # a bucket or key of the stacks, by its logical id
KAFKA = ("cluster", "topic", "group", "transactional-id")
OF_KAFKA = "kafka-cluster:"
GLUE = ("catalog", "database", "table")
Line = tuple[str, str, str, dict[str, str]]  # role, action, resource, context
GROUP = "group/lake_stream"  # of the job that was recorded
# On MSK Connect these of Connect have other names (its guide, "Internal topics"). That of the offsets is ours.
MANAGED = {
    "topic/connect-configs": "topic/__amazon_msk_connect_configs_x",
    "topic/connect-status": "topic/__amazon_msk_connect_status_x",
    "group/connect": "group/__amazon_msk_connect_x",
}


def listed(lake: Lake) -> Iterator[Call]:
    """Of both files, for this lake."""
    for role, action, resource, context in (*recorded(lake.choices), *of_platform(lake.choices)):
        for named in named_here(resource, lake):
            yield Call(lake.role(role), action, arn(named, lake.stacks, lake.account), tuple(context.items()))


def named_here(resource: str, lake: Lake) -> list[str]:
    """What is called so in the recording has other names in some lakes, or several."""
    if resource == GROUP:
        return [f"group/lake_{job}" for job in lake.environment.processing.layered]
    return [MANAGED.get(resource, resource) if "msk_connect" in lake.choices else resource]


def recorded(choices: set[str]) -> Iterator[Line]:
    """Where users log in to Kafka by name and password, IAM is not asked."""
    found = [(*one, {}) for one in json.loads(RECORDED.read_text())]
    yield from (one for one in found if "iam" in choices or not one[1].startswith(OF_KAFKA))


def of_platform(choices: set[str]) -> Iterator[Line]:
    for one in yaml.safe_load(PLATFORM.read_text()):
        if set(one.get("only", "").split()) <= choices:
            for resource in one.get("resources") or [one["resource"]]:
                yield from ((one["role"], action, resource, one.get("context", {})) for action in one["actions"])


def arn(resource: str, stacks: Stacks, account: Account) -> str:
    """The ARN of what is written shortly: {Silver}/silver/x, topic/x, table/x/y."""
    kind, _, rest = resource.partition("/")
    if kind in KAFKA:
        return account.cluster.replace(":cluster/", f":{kind}/") + (f"/{rest}" if rest else "")
    if kind in GLUE:
        return f"arn:aws:glue:{REGION}:{ACCOUNT}:{resource}"
    return NAMED.sub(lambda found: named_arn(found[1], stacks), resource)


def named_arn(name: str, stacks: Stacks) -> str:
    for kind in ("AWS::S3::Bucket", "AWS::KMS::Key", "AWS::IAM::Role", "AWS::SecretsManager::Secret"):
        for stack, id, _ in stacks.of_type(kind):
            if HASH.sub("", id) == name:
                return str(stacks.resolve(stack, {"Ref": id} if kind in REF_IS_ARN else {"Fn::GetAtt": [id, "Arn"]}))
    raise KeyError(f"no bucket, key, role or secret is named {name}")
