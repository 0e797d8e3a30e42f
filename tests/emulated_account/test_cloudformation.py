"""CloudFormation's own behaviour, on small templates: what is refused, undone, kept and replaced."""

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.emulated_account.account import Account
from tests.emulated_account.small_stacks import REGION, Resource, SmallStacks, parameter

pytestmark = pytest.mark.account


def export(value: Any) -> Resource:
    return {"Out": {"Value": value, "Export": {"Name": "shared"}}}


def test_an_unknown_type_fails_and_is_noted(account: Account, stacks: SmallStacks) -> None:
    bucket = {"Type": "AWS::SQS::Queue"}
    assert stacks.deploy("unknown", Queue=bucket) == "ROLLBACK_COMPLETE"
    assert "resource type AWS::SQS::Queue" in stacks.reason("unknown")
    assert account.journal.take() == ["resource type AWS::SQS::Queue"]


def test_an_unknown_custom_resource_fails_and_is_noted(account: Account, stacks: SmallStacks) -> None:
    custom = {"Type": "Custom::Surprise", "Properties": {"ServiceToken": "arn:aws:lambda:x"}}
    assert stacks.deploy("surprise", Custom=custom) == "ROLLBACK_COMPLETE"
    assert account.journal.take() == ["resource type Custom::Surprise"]


def test_a_property_that_is_not_emulated_fails_and_is_noted(account: Account, stacks: SmallStacks) -> None:
    bucket = {"Type": "AWS::S3::Bucket", "Properties": {"AccelerateConfiguration": {"AccelerationStatus": "Enabled"}}}
    assert stacks.deploy("property", Bucket=bucket) == "ROLLBACK_COMPLETE"
    assert account.journal.take() == ["property AccelerateConfiguration of AWS::S3::Bucket"]
    assert "property" not in str(account.client("s3", REGION).list_buckets()["Buckets"])


def test_a_property_that_does_not_exist_is_refused(stacks: SmallStacks) -> None:
    wrong = {"Type": "AWS::SSM::Parameter", "Properties": {"Type": "String", "Valeu": "x"}}
    assert stacks.deploy("wrong", Parameter=wrong) == "ROLLBACK_COMPLETE"
    assert stacks.reason("wrong") == "Encountered unsupported property Valeu"


@pytest.mark.parametrize(
    ("service", "method", "parameters"),
    [
        ("cloudformation", "list_types", {}),
        ("eks", "list_nodegroups", {"clusterName": "x"}),
        ("emr", "list_notebook_executions", {}),
        ("kafka", "list_vpc_connections", {}),
        ("wellarchitected", "list_workloads", {}),
    ],
)
def test_an_unknown_call_fails_and_is_noted(
    account: Account, service: str, method: str, parameters: dict[str, Any]
) -> None:
    with pytest.raises(ClientError, match="not emulated"):
        getattr(account.client(service, REGION), method)(**parameters)
    assert len(account.journal.take()) == 1


def test_what_was_made_before_a_failure_is_taken_back(account: Account, stacks: SmallStacks) -> None:
    second = parameter({"Fn::ImportValue": "nobody-exports-this"}, DependsOn="First")
    assert stacks.deploy("half", First=parameter("x", "/half/first"), Second=second) == "ROLLBACK_COMPLETE"
    assert stacks.reason("half") == "No export named nobody-exports-this found."
    found = account.client("ssm", REGION).describe_parameters()["Parameters"]
    assert "/half/first" not in [one["Name"] for one in found]


def test_an_update_that_fails_leaves_what_was(account: Account, stacks: SmallStacks) -> None:
    ssm = account.client("ssm", REGION)
    stacks.deploy("update", First=parameter("old", "/update/first"))
    second = parameter({"Fn::ImportValue": "nobody-exports-this"}, DependsOn="First")
    status = stacks.deploy("update", "UPDATE", First=parameter("new", "/update/first"), Second=second)
    assert status == "UPDATE_ROLLBACK_COMPLETE"
    assert ssm.get_parameter(Name="/update/first")["Parameter"]["Value"] == "old"
    assert stacks.deploy("update", "UPDATE", First=parameter("new", "/update/first")) == "UPDATE_COMPLETE"
    assert ssm.get_parameter(Name="/update/first")["Parameter"]["Value"] == "new"
    stacks.delete("update")


def test_a_new_name_is_a_new_resource(account: Account, stacks: SmallStacks) -> None:
    stacks.deploy("named", First=parameter("x", "/named/old"))
    assert stacks.deploy("named", "UPDATE", First=parameter("x", "/named/new")) == "UPDATE_COMPLETE"
    found = [one["Name"] for one in account.client("ssm", REGION).describe_parameters()["Parameters"]]
    assert "/named/new" in found and "/named/old" not in found
    stacks.delete("named")


def test_an_export_in_use_neither_changes_nor_goes(stacks: SmallStacks) -> None:
    assert stacks.deploy("giver", outputs=export("1"), First=parameter("x")) == "CREATE_COMPLETE"
    assert stacks.deploy("taker", First=parameter({"Fn::ImportValue": "shared"})) == "CREATE_COMPLETE"
    status = stacks.deploy("giver", "UPDATE", outputs=export("2"), First=parameter("x"))
    assert status == "UPDATE_ROLLBACK_COMPLETE"
    stacks.delete("giver")
    assert stacks.status("giver") == "DELETE_FAILED"
    stacks.delete("taker", "giver")
    with pytest.raises(ClientError, match="Stack with id giver does not exist"):
        stacks.status("giver")


def test_what_is_to_be_kept_is_kept(account: Account, stacks: SmallStacks) -> None:
    stacks.deploy("keeper", Kept=parameter("x", "/keeper/kept", DeletionPolicy="Retain"))
    stacks.delete("keeper")
    assert account.client("ssm", REGION).get_parameter(Name="/keeper/kept")["Parameter"]["Value"] == "x"
    account.client("ssm", REGION).delete_parameter(Name="/keeper/kept")


def test_the_same_template_again_is_no_change(stacks: SmallStacks) -> None:
    stacks.deploy("same", First=parameter("x"))
    template = json.dumps({"Resources": {"First": parameter("x")}, "Outputs": {}})
    names = {"StackName": "same", "ChangeSetName": "look"}
    stacks.client.create_change_set(**names, ChangeSetType="UPDATE", TemplateBody=template)
    found = stacks.client.describe_change_set(**names)
    assert found["Status"] == "FAILED" and "didn't contain changes" in found["StatusReason"]
    stacks.delete("same")


def test_a_change_set_that_is_gone_is_not_found(stacks: SmallStacks) -> None:
    """The command line waits for exactly this."""
    with pytest.raises(ClientError) as error:
        stacks.client.describe_change_set(StackName="same", ChangeSetName="gone")
    assert error.value.response["Error"]["Code"] == "ChangeSetNotFound"


def test_a_circle_is_refused(stacks: SmallStacks) -> None:
    with pytest.raises(ClientError, match="Circular dependency"):
        stacks.deploy("circle", A=parameter({"Ref": "B"}), B=parameter({"Ref": "A"}))


def test_a_name_that_nobody_declares_is_refused(stacks: SmallStacks) -> None:
    with pytest.raises(ClientError, match="unresolved dependency Nobody"):
        stacks.deploy("nobody", A=parameter({"Ref": "Nobody"}))
