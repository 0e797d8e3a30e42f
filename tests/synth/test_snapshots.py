"""Every stack of every environment as it is: what changes here changes in the account."""

from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.json import JSONSnapshotExtension

from tests.synth.synthesis import ENVIRONMENTS, scrubbed, synthesize

PARTS = ["storage", "network", "source", "streaming", "catalog", "connect", "processing", "operations"]


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_stack(name: str, part: str, snapshot: SnapshotAssertion) -> None:
    template = scrubbed(synthesize(name).templates[part])
    assert template == snapshot(extension_class=JSONSnapshotExtension)


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_no_stack_is_missing(name: str) -> None:
    assert sorted(synthesize(name).templates) == sorted(PARTS)


def test_a_hash_is_scrubbed_and_a_parameter_is_not() -> None:
    group = {"Type": "AWS::RDS::DBParameterGroup", "Properties": {"Parameters": {"rds.force_ssl": "1"}}}
    code = {"Type": "AWS::EMR::Step", "Properties": {"Args": [f"s3://assets/{'a' * 64}.py"]}, "Metadata": {"x": 1}}
    template = {"Parameters": {"BootstrapVersion": {}}, "Resources": {"Group": group, "Step": code}}
    assert scrubbed(template) == {
        "Resources": {
            "Group": group,
            "Step": {"Type": "AWS::EMR::Step", "Properties": {"Args": ["s3://assets/<hash>.py"]}},
        }
    }


def test_resources_in_the_order_of_their_hashes_are_the_same() -> None:
    def policy(first: str, second: str) -> dict[str, Any]:
        resources = [f"arn:{hash * 64}{end}" for hash, end in ((first, ".py"), (second, ".jar"))]
        return {"Resources": {"P": {"Type": "AWS::IAM::Policy", "Statement": [{"Resource": sorted(resources)}]}}}

    assert scrubbed(policy("a", "b")) == scrubbed(policy("b", "a"))
