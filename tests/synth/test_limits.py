"""AWS's limits, at 200 captured tables in every environment (AWS-4). The pages of the services name each of them."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.synth.limits import filled, of_role, size
from tests.synth.synthesis import ENVIRONMENTS, ROOT, Synthesized, synthesize

DATABASES, TABLES = 10, 20
NEEDED = ("build", "jars", "helm", "connector_configs", "environments", "spark_jobs", "node_modules", "pom.xml")
KIB = 1024
# IAM and STS quotas: characters without white space; the inline policies of a role count together.
INLINE, MANAGED, ATTACHED, TRUST = 10_240, 6_144, 10, 2_048
# CloudFormation quotas.
TEMPLATE, RESOURCES, OUTPUTS, PARAMETERS = 1_000_000, 500, 200, 200
CUSTOM_RESOURCE = 256 * KIB  # an asynchronous call of Lambda
CONFIG_MAP = 1024 * KIB  # an object of Kubernetes; helm keeps values and chart in one
SHEET = 8 * KIB  # an advanced parameter of Systems Manager
STEP = 10_280  # characters of the arguments of a step of EMR
BUCKET_POLICY, KEY_POLICY, TOPIC_POLICY = 20 * KIB, 32 * KIB, 30 * KIB
# What we name ourselves: AWS::... -> the property and its length.
NAMES = {
    "AWS::EKS::Cluster": ("Name", 100),
    "AWS::MSK::Cluster": ("ClusterName", 64),
    "AWS::MSK::ServerlessCluster": ("ClusterName", 64),
    "AWS::RDS::DBInstance": ("DBInstanceIdentifier", 63),
    "AWS::Athena::NamedQuery": ("Name", 128),
    "AWS::Athena::WorkGroup": ("Name", 128),
    "AWS::Logs::LogGroup": ("LogGroupName", 512),
    "AWS::CloudWatch::Alarm": ("AlarmDescription", 1024),
    "AWS::IAM::Role": ("RoleName", 64),
}


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project with 200 tables in 10 databases, with names as long as people give them."""
    root = tmp_path_factory.mktemp("crowded")
    for name in NEEDED:
        (root / name).symlink_to(ROOT / name)
    (root / "databases").mkdir()
    for number in range(DATABASES):
        name = f"operational_database_{number:02}"
        settings = {"key": ["statement_id"], "types": ["cow", "mor"]}
        tables = {f"customer_relations.monthly_statement_{one:03}": settings for one in range(TABLES)}
        content = {"database": name, "tables": tables}
        (root / f"databases/{name}.yaml").write_text(yaml.safe_dump(content))
    return root


@pytest.fixture(scope="module", params=ENVIRONMENTS)
def big(request: pytest.FixtureRequest, crowded: Path) -> Synthesized:
    return synthesize(request.param, root=crowded)


def resources(lake: Synthesized, kind: str) -> list[dict[str, Any]]:
    return [properties for _, properties in lake.resources(kind)]


def test_the_definition_has_two_hundred_tables(big: Synthesized) -> None:
    charts = {one["Release"]: json.dumps(one) for one in resources(big, "Custom::AWSCDK-EKS-HelmChart")}
    assert charts["source-database"].count("customer_relations") >= DATABASES * TABLES


def test_the_policies_of_every_role_fit(big: Synthesized) -> None:
    too_large = {}
    for part, template in big.templates.items():
        for id in [id for id, one in template["Resources"].items() if one["Type"] == "AWS::IAM::Role"]:
            inline, managed = of_role(template, id)
            if sum(inline) > INLINE or max(managed, default=0) > MANAGED:
                too_large[f"{part}/{id}"] = (inline, managed)
    assert too_large == {}


def test_every_role_has_room_for_its_managed_policies_and_its_trust(big: Synthesized) -> None:
    for template in big.templates.values():
        for id, one in template["Resources"].items():
            if one["Type"] == "AWS::IAM::Role":
                role = one["Properties"]
                assert len(role.get("ManagedPolicyArns", [])) + len(of_role(template, id)[1]) <= ATTACHED, id
                assert size(role["AssumeRolePolicyDocument"]) <= TRUST, id


@pytest.mark.parametrize(
    ("kind", "key", "limit"),
    [
        ("AWS::S3::BucketPolicy", "PolicyDocument", BUCKET_POLICY),
        ("AWS::KMS::Key", "KeyPolicy", KEY_POLICY),
        ("AWS::SNS::TopicPolicy", "PolicyDocument", TOPIC_POLICY),
    ],
)
def test_the_policies_of_resources_fit(big: Synthesized, kind: str, key: str, limit: int) -> None:
    sizes = [size(one[key]) for one in resources(big, kind)]
    assert sizes and max(sizes) <= limit


def test_every_template_fits(big: Synthesized) -> None:
    for path in big.folder.glob("*.template.json"):
        template = json.loads(path.read_text())
        assert path.stat().st_size <= TEMPLATE, path.name
        assert len(template["Resources"]) <= RESOURCES, path.name
        assert len(template.get("Outputs", {})) <= OUTPUTS, path.name
        assert len(template.get("Parameters", {})) <= PARAMETERS, path.name


def test_every_custom_resource_reaches_its_handler(big: Synthesized) -> None:
    for template in big.templates.values():
        for id, one in template["Resources"].items():
            if one["Type"].startswith("Custom::"):
                assert len(json.dumps(filled(one["Properties"]))) <= CUSTOM_RESOURCE, id


def test_every_chart_fits_into_an_object_of_kubernetes(big: Synthesized) -> None:
    for chart in resources(big, "Custom::AWSCDK-EKS-HelmChart"):
        files = sum(path.stat().st_size for path in (ROOT / "helm" / chart["Release"]).rglob("*") if path.is_file())
        assert files + len(filled(chart["Values"])) <= CONFIG_MAP, chart["Release"]


def test_the_sheet_of_the_outputs_fits(big: Synthesized) -> None:
    (sheet,) = (one for one in resources(big, "AWS::SSM::Parameter") if one.get("Name") == f"/lake/{big.name}/sheet")
    assert sheet["Tier"] == "Intelligent-Tiering"
    assert len(filled(sheet["Value"])) <= SHEET


def test_every_step_fits(big: Synthesized) -> None:
    sizes = [
        sum(len(filled(one)) for one in step["HadoopJarStep"]["Args"]) for step in resources(big, "AWS::EMR::Step")
    ]
    assert sizes and max(sizes) <= STEP


def test_every_name_fits(big: Synthesized) -> None:
    long = [
        (kind, one[key])
        for kind, (key, limit) in NAMES.items()
        for one in resources(big, kind)
        if len(filled(one.get(key, ""))) > limit
    ]
    assert long == []
