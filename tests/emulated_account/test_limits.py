"""Sizes, numbers, lengths and patterns that AWS refuses."""

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.emulated_account.account import Account
from tests.emulated_account.cloudformation import schema
from tests.emulated_account.errors import Refused
from tests.emulated_account.small_stacks import REGION, Resource, SmallStacks, parameter, resource

pytestmark = pytest.mark.account

TRUST = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}],
}


def policy(characters: int) -> dict[str, Any]:
    """A document of so many characters, without white space."""
    allow = {"Effect": "Allow", "Action": "s3:GetObject", "Resource": ""}
    document = {"Version": "2012-10-17", "Statement": [allow]}
    allow["Resource"] = "arn:aws:s3:::" + "x" * (characters - len(json.dumps(document, separators=(",", ":"))) - 13)
    assert len(json.dumps(document, separators=(",", ":"))) == characters
    return document


def role(**more: Any) -> Resource:
    return resource("AWS::IAM::Role", AssumeRolePolicyDocument=TRUST, **more)


def managed(characters: int) -> Resource:
    return resource("AWS::IAM::ManagedPolicy", PolicyDocument=policy(characters), Roles=[{"Ref": "Role"}])


def inline(name: str, characters: int) -> Resource:
    document = {"PolicyDocument": policy(characters), "PolicyName": name}
    return resource("AWS::IAM::Policy", Roles=[{"Ref": "Role"}], **document)


def test_a_managed_policy_has_6144_characters(account: Account, stacks: SmallStacks) -> None:
    assert stacks.deploy("managed", Role=role(), Policy=managed(6144)) == "CREATE_COMPLETE"
    assert stacks.deploy("managed", "UPDATE", Role=role(), Policy=managed(6145)) == "UPDATE_ROLLBACK_COMPLETE"
    assert "Cannot exceed quota for PolicySize: 6144" in stacks.reason("managed")
    stacks.delete("managed")
    assert account.client("iam", REGION).list_policies(Scope="Local")["Policies"] == []


def test_the_policies_inside_a_role_share_10240_characters(stacks: SmallStacks) -> None:
    first = inline("first", 10_000)
    assert stacks.deploy("inline", Role=role(), First=first, Second=inline("second", 240)) == "CREATE_COMPLETE"
    longer = stacks.deploy("inline", "UPDATE", Role=role(), First=first, Second=inline("second", 241))
    assert longer == "UPDATE_ROLLBACK_COMPLETE"
    assert "Maximum policy size of 10240 bytes exceeded for role inline-Role-" in stacks.reason("inline")
    stacks.delete("inline")


def test_a_role_that_carries_too_much_is_not_made(account: Account, stacks: SmallStacks) -> None:
    inside = {"PolicyName": "inside", "PolicyDocument": policy(10_241)}
    assert stacks.deploy("heavy", Role=role(Policies=[inside])) == "ROLLBACK_COMPLETE"
    roles = account.client("iam", REGION).list_roles()["Roles"]
    assert not [one for one in roles if one["RoleName"].startswith("heavy-")]
    stacks.delete("heavy")


@pytest.mark.parametrize(
    ("tier", "characters", "status"),
    [
        ("Standard", 4096, "CREATE_COMPLETE"),
        ("Standard", 4097, "ROLLBACK_COMPLETE"),
        ("Intelligent-Tiering", 8192, "CREATE_COMPLETE"),
        ("Intelligent-Tiering", 8193, "ROLLBACK_COMPLETE"),
    ],
)
def test_a_parameter_has_4_or_8_kb(stacks: SmallStacks, tier: str, characters: int, status: str) -> None:
    wide = resource("AWS::SSM::Parameter", Type="String", Tier=tier, Value="x" * characters)
    assert stacks.deploy("wide", Wide=wide) == status
    stacks.delete("wide")


def test_a_template_has_500_resources(stacks: SmallStacks) -> None:
    many = {f"P{number}": resource("AWS::CDK::Metadata") for number in range(501)}
    with pytest.raises(ClientError, match="Number of resources, 501, is greater than maximum allowed, 500"):
        stacks.deploy("many", **many)
    del many["P500"]
    assert stacks.deploy("many", **many) == "CREATE_COMPLETE"
    stacks.delete("many")


def test_a_template_in_a_request_has_51200_bytes(stacks: SmallStacks) -> None:
    wide = {f"P{number}": parameter("x" * 4000) for number in range(13)}
    with pytest.raises(ClientError, match="less than or equal to 51200"):
        stacks.deploy("body", **wide)


def test_a_template_on_s3_has_a_megabyte(account: Account, stacks: SmallStacks) -> None:
    s3 = account.client("s3", REGION)
    s3.create_bucket(Bucket="templates", CreateBucketConfiguration={"LocationConstraint": REGION})
    text = json.dumps({"Resources": {"First": parameter("x")}, "Metadata": {"Text": "x" * 1_000_000}})
    s3.put_object(Bucket="templates", Key="wide.json", Body=text.encode())
    where = {"TemplateURL": f"{account.endpoint}/templates/wide.json"}
    with pytest.raises(ClientError, match="Template may not exceed 1000000 bytes in size"):
        stacks.client.create_change_set(StackName="wide", ChangeSetName="x", ChangeSetType="CREATE", **where)
    s3.delete_object(Bucket="templates", Key="wide.json")
    s3.delete_bucket(Bucket="templates")


@pytest.mark.parametrize(
    ("kind", "properties", "keyword"),
    [
        ("AWS::Logs::LogGroup", {"LogGroupName": "x" * 513}, "maxLength"),
        ("AWS::Logs::LogGroup", {"LogGroupName": "with a space"}, "pattern"),
        ("AWS::Logs::LogGroup", {"RetentionInDays": 8}, "enum"),
        ("AWS::KMS::Key", {"KeyPolicy": {}, "PendingWindowInDays": 3}, "minimum"),
        (
            "AWS::EKS::Cluster",
            {"RoleArn": "x", "ResourcesVpcConfig": {"SubnetIds": ["x"], "Zone": "a"}},
            "additionalProperties",
        ),
        ("AWS::MSK::Configuration", {"Name": "x", "ServerProperties": ["x"]}, "type"),
    ],
)
def test_a_value_that_the_schema_forbids_is_refused(kind: str, properties: Resource, keyword: str) -> None:
    with pytest.raises(Refused, match=rf"keyword \[{keyword}\]"):
        schema.check(REGION, kind, properties)


def test_numbers_and_truths_may_be_written_as_text() -> None:
    schema.check(REGION, "AWS::KMS::Key", {"KeyPolicy": {}, "PendingWindowInDays": "7", "EnableKeyRotation": "true"})


def test_a_name_of_a_stack_is_short_and_plain(stacks: SmallStacks) -> None:
    for name in ("x" * 129, "under_score"):
        with pytest.raises(ClientError, match="failed to satisfy constraint"):
            stacks.deploy(name, First=parameter("x"))
