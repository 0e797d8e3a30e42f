"""Environments that this project does not ship, each with one thing another way."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from lake.aws.images import Images, needed
from lake.aws.source import ExistingDatabase, Source
from tests.clocks import HANG_S
from tests.existing import EXISTING_DATABASE, EXISTING_VPC
from tests.synth.rights import allowed, text
from tests.synth.synthesis import ROOT, Synthesized, described, scrubbed, synthesize, varied

DATABASE = {**EXISTING_DATABASE, "admin_key": "01234567-89ab-cdef-0123-456789abcdef"}
REGISTRY, DIGEST = "mirror.example.com/lake", f"sha256:{'0123456789abcdef' * 4}"
OWN = "-----BEGIN CERTIFICATE-----\nRXhhbXBsZQ==\n-----END CERTIFICATE-----\n"


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Synthesized:
    """An existing VPC and database, a metastore on the cluster, certificates, an API that operators reach."""
    content: dict[str, Any] = {
        "name": "other",
        "region": "us-east-1",
        "keep_data": True,
        "network": {"existing": {**EXISTING_VPC, "availability_zones": ["us-east-1a", "us-east-1b"]}},
        "source": {"existing": DATABASE},
        "connect": {
            "api_access": ["203.0.113.0/24"],
            "administrators": ["Operators", "aws-reserved/sso.amazonaws.com/AWSReservedSSO_Lake_0123456789abcdef"],
            "container_insights": True,
        },
        "images": {"registry": REGISTRY, "digests": {"kafka": DIGEST, "python": DIGEST}},
        "processing": {"metastore": "hive", "certificates": "s3://certificates/lake/nodes.zip"},
        "operations": {"budget_usd": 100, "email": "lake@example.com"},
    }
    return synthesize("other", described(tmp_path_factory.mktemp("variant"), content))


@pytest.fixture(scope="module")
def newer(tmp_path_factory: pytest.TempPathFactory) -> Synthesized:
    """The development environment with the newer EMR release."""
    return varied(tmp_path_factory.mktemp("newer"), "dev", {"processing": {"release": "emr-7.10.0"}})


def test_the_newer_release_changes_the_cluster_and_its_jobs_alone(newer: Synthesized, dev: Synthesized) -> None:
    changed = [part for part in dev.templates if scrubbed(newer.templates[part]) != scrubbed(dev.templates[part])]
    assert changed == ["processing"]
    assert newer.only("AWS::EMR::Cluster")["ReleaseLabel"] == "emr-7.10.0"
    assert newer.failure == ""


def test_the_newer_release_brings_the_connector_of_its_spark(newer: Synthesized, dev: Synthesized) -> None:
    uploaded = [{path.name for path in lake.folder.glob("asset.*.jar")} for lake in (newer, dev)]
    assert len(uploaded[0] & uploaded[1]) == 5  # two of ours, Kafka's login, commons-pool, the driver of PostgreSQL


def test_no_network_and_no_database_are_made(other: Synthesized) -> None:
    assert other.resources("AWS::EC2::VPC") == other.resources("AWS::RDS::DBInstance") == []


def test_everything_stands_in_the_existing_subnets(other: Synthesized) -> None:
    subnets = set(EXISTING_VPC["private_subnets"])
    assert set(other.only("AWS::MSK::Cluster")["BrokerNodeGroupInfo"]["ClientSubnets"]) == subnets
    assert set(other.only("AWS::EKS::Cluster")["ResourcesVpcConfig"]["SubnetIds"]) == subnets
    assert other.only("AWS::EMR::Cluster")["Instances"]["Ec2SubnetId"] in subnets


def test_the_existing_database_is_opened_for_workers_and_jobs(other: Synthesized) -> None:
    rules = [rule for _, rule in other.resources("AWS::EC2::SecurityGroupIngress")]
    opened = [rule for rule in rules if rule["GroupId"] == DATABASE["security_group"]]
    assert [(rule["FromPort"], rule["ToPort"]) for rule in opened] == [(5432, 5432)] * 2


def test_preparation_connectors_and_registry_go_to_the_existing_database(other: Synthesized) -> None:
    values = [text(chart["Values"]) for _, chart in other.resources("Custom::AWSCDK-EKS-HelmChart")]
    assert len(values) == 3 and all("db.example.com" in content for content in values)


def test_the_secret_of_the_existing_administrator_is_read_with_its_key(other: Synthesized) -> None:
    template = other.templates["connect"]
    secrets = allowed(template, "PreparationRole", "secretsmanager")["GetSecretValue"]
    assert [one for one in secrets if one.endswith(":secret:shop/admin-??????")] != []
    keys = allowed(template, "PreparationRole", "kms")["Decrypt"]
    assert [one for one in keys if one.endswith(":key/01234567-89ab-cdef-0123-456789abcdef")] != []


def test_an_authority_that_nobody_named_is_not_checked_and_a_named_one_is(tmp_path: Path, other: Synthesized) -> None:
    from lake.aws.authorities import authorities
    from lake.aws.environment import load_aws_environment
    from lake.config.errors import BadInput

    assert chart_values(other, "source-database")["database"]["caBundle"] == ""
    (settings,) = chart_values(other, "kafka-connect")["connectors"].values()
    assert json.loads(settings)["database.sslmode"] == "require"
    named = load_aws_environment(ROOT, "dev").model_copy(
        update={"source": Source(existing=ExistingDatabase(**DATABASE, ca_file="own.pem"))}
    )
    with pytest.raises(BadInput, match=r"no such file of authorities; .*own.pem; correct source.existing.ca_file"):
        authorities(tmp_path, named)
    (tmp_path / "own.pem").write_text("key")
    with pytest.raises(BadInput, match="not a certificate in PEM form"):
        authorities(tmp_path, named)
    (tmp_path / "own.pem").write_text(OWN)
    assert authorities(tmp_path, named) == OWN


def chart_values(lake: Synthesized, chart: str) -> dict[str, Any]:
    (found,) = [one for _, one in lake.resources("Custom::AWSCDK-EKS-HelmChart") if one["Release"] == chart]
    return dict(json.loads(text(found["Values"])))


def test_every_image_comes_from_the_registry_of_the_environment(other: Synthesized) -> None:
    pulled = {one.name: one for one in needed(ROOT, Images(registry=REGISTRY, digests={"kafka": DIGEST}))}
    assert pulled["kafka"].reference == f"{pulled['kafka'].repository}:{pulled['kafka'].tag}@{DIGEST}"
    for chart, main in (
        ("kafka-connect", "kafka"),
        ("apicurio-registry", "registry"),
        ("source-database", "postgresql"),
    ):
        values = chart_values(other, chart)
        digest = {"digest": DIGEST} if main == "kafka" else {}
        assert values["image"] == {"repository": pulled[main].repository, "tag": pulled[main].tag, **digest}
        assert values["tools"] == {
            "awsCli": {"repository": f"{REGISTRY}/public.ecr.aws/aws-cli/aws-cli"},
            "python": {"repository": f"{REGISTRY}/public.ecr.aws/docker/library/python", "digest": DIGEST},
        }


def test_no_image_is_missing_in_the_list() -> None:
    charts = {path.parent.name: yaml.safe_load(path.read_text()) for path in (ROOT / "helm").glob("*/values.yaml")}
    used = {one["repository"] for values in charts.values() for one in (values["image"], *values["tools"].values())}
    assert used == {one.source.rpartition(":")[0] for one in needed(ROOT, Images())}


def test_hive_keeps_its_own_metastore(other: Synthesized) -> None:
    settings = [one["Classification"] for one in other.only("AWS::EMR::Cluster")["Configurations"]]
    assert "spark-hive-site" not in settings


def test_certificates_turn_tls_on(other: Synthesized) -> None:
    content = other.only("AWS::EMR::SecurityConfiguration")["SecurityConfiguration"]["EncryptionConfiguration"]
    assert content["EnableInTransitEncryption"] is True
    assert content["InTransitEncryptionConfiguration"]["TLSCertificateConfiguration"] == {
        "CertificateProviderType": "PEM",
        "S3Object": "s3://certificates/lake/nodes.zip",
    }


def test_operators_reach_the_api_from_their_network(other: Synthesized) -> None:
    access = other.only("AWS::EKS::Cluster")["ResourcesVpcConfig"]
    assert (access["EndpointPublicAccess"], access["PublicAccessCidrs"]) == (True, ["203.0.113.0/24"])


def test_administrators_use_kubectl_in_the_namespace_of_the_lake(other: Synthesized) -> None:
    entries = [one for _, one in other.resources("AWS::EKS::AccessEntry")]
    people = {text(one["PrincipalArn"]).rpartition(":role/")[2]: one for one in entries if "AccessPolicies" in one}
    sso = "aws-reserved/sso.amazonaws.com/AWSReservedSSO_Lake_0123456789abcdef"
    for role in ("Operators", sso):
        (policy,) = people[role]["AccessPolicies"]
        assert text(policy["PolicyArn"]).endswith("/AmazonEKSAdminPolicy")
        assert policy["AccessScope"] == {"Type": "namespace", "Namespaces": ["lake"]}


def test_container_insights_have_their_log_group(other: Synthesized) -> None:
    names = [one.get("LogGroupName") for _, one in other.resources("AWS::Logs::LogGroup")]
    assert "/aws/containerinsights/lake-other/performance" in names


def test_a_person_is_told(other: Synthesized) -> None:
    assert other.only("AWS::SNS::Subscription")["Endpoint"] == "lake@example.com"


def test_named_zones_are_those_of_all_subnets(tmp_path: Path) -> None:
    zones = ["eu-central-1b", "eu-central-1c"]
    named = varied(tmp_path, "demo", {"network.availability_zones": zones})
    assert {subnet["AvailabilityZone"] for _, subnet in named.resources("AWS::EC2::Subnet")} == set(zones)
    assert named.failure == ""


def test_a_missing_build_is_named_before_synth(tmp_path: Path) -> None:
    from lake.aws.environment import load_aws_environment
    from lake.aws.prerequisites import check_build
    from lake.config.errors import BadInput

    (tmp_path / "jars").symlink_to(ROOT / "jars")
    with pytest.raises(BadInput, match=r"no such jar to deploy; .*build/aws/spark-3.4.1/.*jar; run: make setup"):
        check_build(tmp_path, load_aws_environment(ROOT, "dev"))


def test_a_copied_environment_may_not_lose_data(tmp_path: Path) -> None:
    text = (ROOT / "environments/dev.yaml").read_text().replace("name: dev", "name: staging")
    (tmp_path / "staging.yaml").write_text(text)
    variables = {"LAKE_ENVIRONMENTS_DIR": str(tmp_path), "CDK_CONTEXT_JSON": json.dumps({"env": "staging"})}
    done = subprocess.run(
        [sys.executable, "app.py"],
        cwd=ROOT,
        env={**os.environ, **variables},
        text=True,
        capture_output=True,
        timeout=HANG_S,
    )
    assert done.returncode == 1 and "the second key is missing" in done.stderr
