"""How large a thing is once CloudFormation has put in what it knows at deployment; each value as long as it can be."""

import json
from collections.abc import Iterator
from typing import Any

from tests.synth.rights import listed

Template = dict[str, Any]
# The longest that each of them becomes. Sources: the ARN formats of the services, and their longest region names.
PSEUDO = {"AWS::Partition": "aws-us-gov", "AWS::Region": "ap-southeast-1", "AWS::AccountId": "0" * 12}
NAME = "n" * 63  # a bucket, an id of a role or of a key
ARN = f"arn:aws-us-gov:secretsmanager:ap-southeast-1:{'0' * 12}:secret:{NAME}"
CLUSTER = f"lake-{'e' * 12}/{'u' * 36}-25"  # name and id of a cluster of MSK


def filled(value: Any) -> Any:
    """The value without intrinsic functions."""
    if isinstance(value, list):
        return [filled(one) for one in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        ((kind, inner),) = value.items()
        if kind == "Ref" or kind.startswith("Fn::"):
            return _result(kind, inner)
    return {key: filled(one) for key, one in value.items()}


def _result(kind: str, inner: Any) -> str:
    if kind == "Fn::Join":
        separator, parts = inner
        return str(separator).join(str(filled(part)) for part in parts)
    if kind == "Ref":
        return PSEUDO.get(inner, NAME)
    if kind == "Fn::Select" and ":cluster/" in json.dumps(inner):
        return CLUSTER
    return ARN if kind == "Fn::GetAtt" or "Arn" in json.dumps(inner) else NAME


def size(document: Any) -> int:
    """The characters that IAM counts: all but white space."""
    return len(json.dumps(filled(document), separators=(",", ":")))


def of_role(template: Template, role: str) -> tuple[list[int], list[int]]:
    """The sizes of the policies that are inline in the role, and those of its managed policies of this stack."""
    inline = [one["PolicyDocument"] for one in template["Resources"][role]["Properties"].get("Policies", [])]
    inline += [one["PolicyDocument"] for one in _attached(template, "AWS::IAM::Policy", role)]
    managed = [one["PolicyDocument"] for one in _attached(template, "AWS::IAM::ManagedPolicy", role)]
    return [size(one) for one in inline], [size(one) for one in managed]


def _attached(template: Template, kind: str, role: str) -> Iterator[dict[str, Any]]:
    for resource in template["Resources"].values():
        if resource["Type"] == kind and {"Ref": role} in listed(resource["Properties"].get("Roles", [])):
            yield resource["Properties"]
