"""What a resource costs is counted by its tag `lake`: a resource without it is in no budget."""

from collections.abc import Iterator
from typing import Any

from cfnlint.schema import PROVIDER_SCHEMA_MANAGER

from tests.synth.synthesis import Synthesized

PREFIX = "/properties/"
# The CDK makes them without tags: a parameter and a role are free, and the function runs once, when a bucket goes.
FREE = ("KubernetesKubectlReadyBarrier", "CustomS3AutoDeleteObjectsCustomResourceProvider")


def tag_property(kind: str) -> str:
    """The property that holds the tags of a type; empty for a type without tags, and for custom resources."""
    if not kind.startswith("AWS::"):
        return ""
    known = PROVIDER_SCHEMA_MANAGER.get_resource_schema("eu-central-1", kind).schema
    tagging = known.get("tagging", {})
    name = str(tagging.get("tagProperty", "/properties/Tags")).removeprefix(PREFIX)
    return name if tagging.get("taggable", True) and name in known["properties"] else ""


def untagged(lake: Synthesized) -> Iterator[str]:
    for template in lake.templates.values():
        for id, resource in template["Resources"].items():
            name = "" if id.startswith(FREE) else tag_property(resource["Type"])
            if name and tags(resource.get("Properties", {}).get(name)).get("lake") != lake.name:
                yield f"{resource['Type']} {id}"


def tags(written: Any) -> dict[str, str]:
    """CloudFormation has two forms of tags."""
    if isinstance(written, list):
        return {str(one["Key"]): str(one["Value"]) for one in written}
    return dict(written or {})


def test_every_resource_carries_the_tag_of_the_lake(lake: Synthesized) -> None:
    assert list(untagged(lake)) == []


def test_the_budget_counts_what_carries_that_tag_and_nothing_else(lake: Synthesized) -> None:
    budget = lake.only("AWS::Budgets::Budget")["Budget"]
    assert budget["CostFilters"] == {"TagKeyValue": [f"user:lake${lake.name}"]}
