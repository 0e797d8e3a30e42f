"""Findings of cdk-nag (AwsSolutions) that are accepted: suppressions.yaml says where, which, and why."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from aws_cdk import Acknowledgment, Stack, Validations
from constructs import IConstruct

ACCEPTED: list[dict[str, Any]] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
SHORT = {
    "managed": "IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/{0}]",
    "below": "IAM5[Resource::lake-<env>-storage:ExportsOutputFnGetAtt{0}/{1}/*]",
    "topics": 'IAM5[Resource::arn:<AWS::Partition>:kafka:<AWS::Region>:<AWS::AccountId>:topic/{{"Fn::Select":[1,{{"Fn::'
    'Split":[":cluster/",{{"Fn::ImportValue":"lake-<env>-streaming:ExportsOutputFnGetAtt{0}"}}]}}]}}/{1}]',
    "groups": 'IAM5[Resource::arn:<AWS::Partition>:kafka:<AWS::Region>:<AWS::AccountId>:group/{{"Fn::Select":[1,{{"Fn::'
    'Split":[":cluster/",{{"Fn::ImportValue":"lake-<env>-streaming:ExportsOutputFnGetAtt{0}"}}]}}]}}/{1}]',
    "found-topics": "IAM5[Resource::arn:<AWS::Partition>:kafka:<AWS::Region>:<AWS::AccountId>:topic/<kafka>/{0}]",
    "found-groups": "IAM5[Resource::arn:<AWS::Partition>:kafka:<AWS::Region>:<AWS::AccountId>:group/<kafka>/{0}]",
    "log-group": "IAM5[Resource::arn:<AWS::Partition>:logs:<AWS::Region>:<AWS::AccountId>:log-group:{0}:*]",
}
Repeated = Mapping[str, Sequence[str]]  # a place in a rule -> the names that it stands for; without any, no rule


def acknowledge(stacks: dict[str, Stack], environment: str, repeated: Repeated, *, keep_data: bool) -> None:
    """Acknowledges each finding at its construct only: elsewhere it is an error."""
    for accepted, path in [(one, path) for one in ACCEPTED for path in paths(one)]:
        stack = stacks[accepted["part"]]
        place = found(stack, path)
        if place is None or (keep_data and accepted.get("throw_away")):
            continue
        for rule in accepted["rules"]:
            for id in spelt(rule, environment, stack.region, repeated):
                note = Acknowledgment(id=f"AwsSolutions::AwsSolutions-{id}", reason=accepted["reason"])
                Validations.of(place).acknowledge(note)


def paths(accepted: dict[str, Any]) -> list[str]:
    path = accepted["path"]
    return path if isinstance(path, list) else [path]


def spelt(rule: str, environment: str, region: str, repeated: Repeated) -> list[str]:
    """The rule as cdk-nag spells it here; one rule per database if it names databases."""
    word, *values = rule.split(" ")
    whole = SHORT[word].format(*values) if word in SHORT else rule
    ids = [whole.replace("<env>", environment).replace("<region>", region)]
    for place, names in repeated.items():
        ids = [id.replace(place, name) for id in ids for name in (names if place in id else [""])]
    return ids


def found(stack: Stack, path: str) -> IConstruct | None:
    """The construct at the path; None where the environment has none."""
    place: IConstruct | None = stack
    for name in path.split("/"):
        place = place.node.try_find_child(name) if place else None
    return place
