"""Names that we give: CloudFormation cannot replace a resource under a name, so no change may have to.

"CloudFormation cannot update a stack when a custom-named resource requires replacing." The schemas that cfn-lint
carries say which properties a type cannot change (createOnlyProperties).
"""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cfnlint.schema import PROVIDER_SCHEMA_MANAGER

from tests.synth.rights import text
from tests.synth.synthesis import ROOT, Synthesized, synthesize, varied

# What a named resource may write of properties that it cannot change, and why that is right.
ACCEPTED: dict[str, tuple[set[str], str]] = {
    "AWS::ApplicationAutoScaling::ScalableTarget": (
        {"ResourceId"},
        "the ARN of what it scales: it goes with the brokers",
    ),
    "AWS::Athena::NamedQuery": ({"Database", "QueryString", "WorkGroup"}, "a label: two queries may have one name"),
    "AWS::EC2::VPCEndpoint": ({"VpcEndpointType", "VpcId"}, "the name of AWS's service, not of the endpoint"),
    "AWS::EKS::Addon": ({"ClusterName"}, "the name of AWS's add-on; it goes with its cluster"),
    "AWS::EKS::Cluster": (
        {"EncryptionConfig", "KubernetesNetworkConfig", "RoleArn"},
        "EKS names its log groups after it, which exist before; role and key are those of its construct",
    ),
    "AWS::EMR::Step": ({"ActionOnFailure", "HadoopJarStep", "JobFlowId"}, "a label: two steps may have one name"),
    "AWS::MSK::Cluster": (
        {"BrokerNodeGroupInfo", "EncryptionInfo"},
        "metrics and topics have its name; a replacement would lose the topics, so that its refusal is wanted",
    ),
    "AWS::MSK::ServerlessCluster": (
        {"ClientAuthentication", "Tags", "VpcConfigs"},
        "MSK demands a name; tags of the environment are kept from it",
    ),
    "AWS::RDS::DBInstance": (
        {"DBSubnetGroupName", "KmsKeyId", "MasterUsername", "StorageEncrypted"},
        "RDS names its log group after it; a replacement would lose the source, so that its refusal is wanted",
    ),
}


def test_a_named_resource_can_be_changed(lake: Synthesized) -> None:
    wrong = {
        f"{part}/{id}": fixed - ACCEPTED.get(kind, (set(), ""))[0]
        for part, id, kind, fixed in named(lake)
        if fixed - ACCEPTED.get(kind, (set(), ""))[0]
    }
    assert wrong == {}


def test_every_accepted_name_is_given(dev: Synthesized, demo: Synthesized, prod: Synthesized) -> None:
    given: dict[str, set[str]] = {}
    for lake in (dev, demo, prod):
        for _, _, kind, fixed in named(lake):
            given.setdefault(kind, set()).update(fixed)
    assert {kind: fixed for kind, fixed in given.items() if fixed} == {kind: one[0] for kind, one in ACCEPTED.items()}


def test_tags_of_an_environment_cannot_replace_the_brokers(demo: Synthesized, tmp_path: Path) -> None:
    tagged = varied(tmp_path, "demo", {"tags": {"cost-center": "42"}})
    assert tagged.only("AWS::MSK::ServerlessCluster") == demo.only("AWS::MSK::ServerlessCluster")
    assert {"Key": "cost-center", "Value": "42"} in tagged.only("AWS::RDS::DBInstance")["Tags"]


def test_a_second_database_leaves_the_source_alone(dev: Synthesized, tmp_path: Path) -> None:
    for name in ("build", "jars", "node_modules", "helm", "connector_configs", "spark_jobs", "pom.xml"):
        (tmp_path / name).symlink_to(ROOT / name)
    shutil.copytree(ROOT / "databases", tmp_path / "databases")
    (tmp_path / "databases/billing.yaml").write_text("database: billing\ntables: {public.bills: {key: [id]}}\n")
    grown = synthesize("dev", root=tmp_path)
    assert grown.only("AWS::RDS::DBInstance") == dev.only("AWS::RDS::DBInstance")
    (chart,) = [
        one for _, one in grown.resources("Custom::AWSCDK-EKS-HelmChart") if one["Release"] == "source-database"
    ]
    server = json.loads(text(chart["Values"]))["sql"]["server"]
    assert 'CREATE DATABASE "billing"' in server and 'CREATE DATABASE "moma"' in server


def named(lake: Synthesized) -> Iterator[tuple[str, str, str, set[str]]]:
    """Part, id and type of every resource with a name of ours, and the other properties that fix it."""
    for part, template in lake.templates.items():
        for id, resource in template["Resources"].items():
            if not resource["Type"].startswith("Custom::"):
                names, others = parted(resource["Type"], resource.get("Properties", {}))
                if names:
                    yield part, id, resource["Type"], others


def parted(kind: str, properties: dict[str, Any]) -> tuple[set[str], set[str]]:
    """The properties that name the resource, and those that are fixed beside."""
    schema = PROVIDER_SCHEMA_MANAGER.get_resource_schema("us-east-1", kind).schema
    fixed, read = (paths(schema, f"{which}Properties") for which in ("createOnly", "readOnly"))
    identity = paths(schema, "primaryIdentifier") - read
    # A type that AWS identifies by an ARN is named by a property of its own choice.
    names = identity or {path for path in fixed if path[-1].endswith("Name")}
    literal = {path for path in names if isinstance(at(properties, path), str)}
    return {path[0] for path in literal}, {path[0] for path in fixed - literal if at(properties, path) is not None}


def paths(schema: dict[str, Any], which: str) -> set[tuple[str, ...]]:
    return {tuple(path.split("/")[2:]) for path in schema.get(which, [])}


def at(value: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value
