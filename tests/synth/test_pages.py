"""The pages of the environments say what their templates say."""

import pytest

from lake.aws.cost import Item
from tests.synth.environment_page import page
from tests.synth.pages import FOLDER, page_of
from tests.synth.synthesis import ENVIRONMENTS


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_the_page_is_that_of_the_templates(name: str) -> None:
    written = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    assert written == page_of(name), "run `make pages` and read the difference"


def test_a_page_names_rights_reach_holders_and_replacements() -> None:
    group = {"GroupId": {"Ref": "BrokersABCDEF01"}, "IpProtocol": "tcp", "FromPort": 9098, "ToPort": 9098}
    statement = {"Effect": "Deny", "Action": ["s3:Get*", "s3:Put"], "Resource": "*"}
    templates = {
        "storage": {
            "Resources": {
                "BronzeABCDEF01": {
                    "Type": "AWS::S3::Bucket",
                    "DeletionPolicy": "Retain",
                    "Properties": {"BucketName": "b"},
                },
                "Rule": {"Type": "AWS::EC2::SecurityGroupIngress", "Properties": {**group, "CidrIp": "0.0.0.0/0"}},
                "Policy": {
                    "Type": "AWS::IAM::Policy",
                    "Properties": {"Roles": [{"Ref": "RoleABCDEF01"}], "PolicyDocument": {"Statement": [statement]}},
                },
            }
        }
    }
    text = page("x", "us-east-1", templates, [Item("disk", 2, 1.5)])
    for row in (
        "| disk | 2 | 3.00 |",
        "| storage | AWS::S3::Bucket | `b` |",
        "| <Brokers> | 9098 | **anywhere** |",
        "| storage: Role | **never** s3: Get\\*, Put | `*` |",
        "| storage | Bronze (AWS::S3::Bucket) | is kept |",
        "| AWS::S3::Bucket | BucketName |",
    ):
        assert row in text
