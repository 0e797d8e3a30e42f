"""Every stack of every environment, `dev` whole, the others as differences: a change here is one in the account."""

from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.json import JSONSnapshotExtension
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from tests.synth.differences import difference
from tests.synth.synthesis import ENVIRONMENTS, scrubbed, synthesize

PARTS = ["storage", "network", "source", "streaming", "catalog", "connect", "processing", "operations"]


BASE, *OTHERS = ENVIRONMENTS


class Differences(SingleFileSnapshotExtension):
    """A text file for each snapshot."""

    _write_mode = WriteMode.TEXT  # syrupy reads it here
    file_extension = "diff"


@pytest.mark.parametrize("part", PARTS)
def test_stack(part: str, snapshot: SnapshotAssertion) -> None:
    assert template(BASE, part) == snapshot(extension_class=JSONSnapshotExtension)


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("name", OTHERS)
def test_differences(name: str, part: str, snapshot: SnapshotAssertion) -> None:
    found = difference(name, BASE, template(name, part), template(BASE, part))
    assert found == snapshot(extension_class=Differences)


def template(name: str, part: str) -> dict[str, Any]:
    return scrubbed(synthesize(name).templates[part])


def test_a_difference_is_a_line_per_value() -> None:
    base = {"Name": "lake-dev-x", "List": [1, {"a": True}], "Old": 1}
    other = {"Name": "lake-demo-x", "List": [1, {"a": False}]}
    lines = ["+ List[1].a = false", "- List[1].a = true", "- Old = 1"]
    assert difference("demo", "dev", other, base).splitlines() == lines
    assert difference("demo", "dev", {"Name": "lake-demo-x"}, {"Name": "lake-dev-x"}) == "the same\n"


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
