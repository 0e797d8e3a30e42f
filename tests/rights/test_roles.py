"""Roles as they come out of templates: names resolved, policies of all kinds, over stacks."""

import json
from pathlib import Path
from typing import Any

import pytest

from iam.errors import NotEmulated, Refused
from iam.roles import Role, Stacks, account, read

ROLE = {"Type": "AWS::IAM::Role", "Properties": {}}
HERE = "arn:aws:{}:eu-central-1:123456789012:{}"


def policy(role: str, action: str, resource: Any) -> dict[str, Any]:
    statement = {"Effect": "Allow", "Action": action, "Resource": resource}
    properties = {"Roles": [{"Ref": role}], "PolicyDocument": {"Statement": [statement]}}
    return {"Type": "AWS::IAM::Policy", "Properties": properties}


def resource_of(resource: Any, **more: Any) -> Any:
    """What becomes of a resource that a policy names."""
    resources = {"NodesABCDEF01": ROLE, "Policy": policy("NodesABCDEF01", "s3:GetObject", resource), **more}
    role = account(Stacks({"lake-dev-x": {"Resources": resources}})).roles["Nodes"]
    return role.policies["Policy"]["Statement"][0]["Resource"]


@pytest.mark.parametrize(
    ("type", "properties", "function", "expected"),
    [
        ("S3::Bucket", {}, {"Fn::GetAtt": ["It", "Arn"]}, "arn:aws:s3:::lake-dev-x-it"),
        ("S3::Bucket", {}, {"Fn::Sub": "arn:aws:s3:::${It}/silver/*"}, "arn:aws:s3:::lake-dev-x-it/silver/*"),
        ("KMS::Key", {"KeyPolicy": {}}, {"Fn::GetAtt": ["It", "Arn"]}, HERE.format("kms", "key/lake-dev-x-it")),
        ("SecretsManager::Secret", {}, {"Ref": "It"}, HERE.format("secretsmanager", "secret:lake-dev-x-it-abcdef")),
        (
            "MSK::Cluster",
            {"ClusterName": "lake-dev"},
            {"Fn::Join": ["/", [{"Fn::Select": [1, {"Fn::Split": [":cluster/", {"Ref": "It"}]}]}, "t"]]},
            "lake-dev/0-1/t",
        ),
    ],
)
def test_functions_become_names(type: str, properties: Any, function: Any, expected: str) -> None:
    assert resource_of(function, It={"Type": f"AWS::{type}", "Properties": properties}) == expected


def test_a_secret_attached_to_a_database_is_that_secret() -> None:
    attachment = {"Type": "AWS::SecretsManager::SecretTargetAttachment", "Properties": {"SecretId": {"Ref": "S"}}}
    found = resource_of({"Ref": "A"}, A=attachment, S={"Type": "AWS::SecretsManager::Secret"})
    assert found == HERE.format("secretsmanager", "secret:lake-dev-x-s-abcdef")


def test_a_value_is_imported_from_another_stack() -> None:
    key = {"Type": "AWS::KMS::Key", "Properties": {"KeyPolicy": {}}}
    output = {"Value": {"Fn::GetAtt": ["Key", "Arn"]}, "Export": {"Name": "storage:Key"}}
    resources = {"Nodes": ROLE, "Policy": policy("Nodes", "kms:Decrypt", {"Fn::ImportValue": "storage:Key"})}
    stacks = Stacks({"b": {"Resources": resources}, "a": {"Resources": {"Key": key}, "Outputs": {"ExportKey": output}}})
    (statement,) = account(stacks).roles["Nodes"].policies["Policy"]["Statement"]
    assert statement["Resource"] == HERE.format("kms", "key/a-key")
    with pytest.raises(Refused, match="No export named storage:Key"):
        account(Stacks({"b": {"Resources": resources}}))


def test_an_arn_that_nobody_taught_is_not_guessed() -> None:
    with pytest.raises(NotEmulated, match="the ARN of AWS::Odd::Thing; add it to ARNS"):
        resource_of({"Fn::GetAtt": ["It", "Arn"]}, It={"Type": "AWS::Odd::Thing"})


def test_policies_of_all_kinds_are_of_their_role() -> None:
    document: dict[str, Any] = {"Statement": []}
    inline = {"Policies": [{"PolicyName": "Own", "PolicyDocument": document}], "ManagedPolicyArns": ["arn:of:aws"]}
    managed = {"Type": "AWS::IAM::ManagedPolicy", "Properties": {"Roles": [{"Ref": "R"}], "PolicyDocument": document}}
    resources = {"R": {"Type": "AWS::IAM::Role", "Properties": inline}, "Overflow": managed}
    found = account(Stacks({"s": {"Resources": resources}})).roles["R"]
    assert found == Role(
        "arn:aws:iam::123456789012:role/s-r", {"Own": document, "Overflow": document}, managed=["arn:of:aws"]
    )


def test_policies_of_resources_are_known_by_their_arns(tmp_path: Path) -> None:
    bucket = {"Type": "AWS::S3::Bucket"}
    closed = {"Type": "AWS::S3::BucketPolicy", "Properties": {"Bucket": {"Ref": "B"}, "PolicyDocument": {"Id": "b"}}}
    template = {"Resources": {"B": bucket, "Closed": closed}}
    (tmp_path / "lake-dev-storage.template.json").write_text(json.dumps(template))
    assert account(read(tmp_path)).resources == {"arn:aws:s3:::lake-dev-storage-b": {"Id": "b"}}
