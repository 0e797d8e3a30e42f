"""A wrong value never reaches the cluster: the schema refuses it, and says which."""

from pathlib import Path

import pytest

from tests.charts.rendering import ROOT, Values, helm, rendered, scenarios, template

CONNECT = ROOT / "helm/kafka-connect/ci/demo-values.yaml"
REGISTRY = ROOT / "helm/apicurio-registry/ci/demo-values.yaml"
SOURCE = ROOT / "helm/source-database/ci/demo-values.yaml"
CERTIFICATE = "-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n"

WRONG: list[tuple[Path, Values, str]] = [
    (CONNECT, {"replica": 2}, "replica"),
    (CONNECT, {"serviceAccount": {"name": "Not_Valid"}}, "/serviceAccount/name"),
    (CONNECT, {"vpcCidrs": ["10.0.0.256/8"]}, "/vpcCidrs/0"),
    (CONNECT, {"resources": {"limits": {"memory": "2 GB"}}}, "/resources/limits/memory"),
    (CONNECT, {"image": {"name": "kafka"}}, "name"),
    (CONNECT, {"image": {"tag": "latest"}}, "/image/tag"),
    (CONNECT, {"image": {"digest": "sha256:12"}}, "/image/digest"),
    (CONNECT, {"tools": {"perl": {}}}, "perl"),
    (CONNECT, {"tools": {"python": {"repository": ""}}}, "/tools/python/repository"),
    (CONNECT, {"replicas": "2"}, "/replicas"),
    (CONNECT, {"replicas": 0}, "/replicas"),
    (CONNECT, {"bootstrapServers": "broker"}, "/bootstrapServers"),
    (CONNECT, {"bootstrapServers": ["broker:9098"]}, "/bootstrapServers"),
    (CONNECT, {"bootstrapServers": "a:9098, b:9098"}, "/bootstrapServers"),
    (CONNECT, {"registryUrl": "registry:8080"}, "/registryUrl"),
    (CONNECT, {"pluginBundle": {"sha256": "abc"}}, "/pluginBundle/sha256"),
    (CONNECT, {"pluginBundle": {"bucket": ""}}, "/pluginBundle/bucket"),
    (CONNECT, {"pluginBundle": {"url": "s3://x"}}, "url"),
    (CONNECT, {"security": {"protocol": "PLAINTEXT"}}, "/security/protocol"),
    (CONNECT, {"security": {"password": "x"}}, "password"),
    (CONNECT, {"security": {"protocol": "SCRAM"}}, "/security/scramSecret"),
    (CONNECT, {"security": {"protocol": "MSK_IAM", "scramSecret": "x"}}, "/security/scramSecret"),
    (CONNECT, {"databaseSecret": ""}, "/databaseSecret"),
    (CONNECT, {"databaseSecret": {"username": "x", "password": "y"}}, "/databaseSecret"),
    (CONNECT, {"databaseCaBundle": "/etc/ssl/rds.pem"}, "/databaseCaBundle"),
    (CONNECT, {"databasePort": 0}, "/databasePort"),
    (CONNECT, {"requests": {"bucket": ""}}, "/requests/bucket"),
    (CONNECT, {"requests": {"prefix": "a/b"}}, "/requests/prefix"),
    (CONNECT, {"requests": {"url": "s3://x"}}, "url"),
    (CONNECT, {"connectors": {"Moma": "{}"}}, "Moma"),
    (CONNECT, {"connectors": {"moma": {"connector.class": "x"}}}, "/connectors/moma"),
    (CONNECT, {"connectors": ["moma"]}, "/connectors"),
    (CONNECT, {"serviceAccount": {"create": True}}, "create"),
    (CONNECT, {"vpcCidrs": []}, "/vpcCidrs"),
    (CONNECT, {"vpcCidrs": ["0.0.0.0/0"]}, "/vpcCidrs/0"),
    (CONNECT, {"resources": {"limits": {"memory": 1}}}, "/resources/limits/memory"),
    (CONNECT, {"resources": {"limit": {"memory": "1Gi"}}}, "limit"),
    (REGISTRY, {"replica": 2}, "replica"),
    (REGISTRY, {"serviceAccount": {"name": "Not_Valid"}}, "/serviceAccount/name"),
    (REGISTRY, {"vpcCidrs": ["10.0.0.256/8"]}, "/vpcCidrs/0"),
    (REGISTRY, {"resources": {"limits": {"memory": "2 GB"}}}, "/resources/limits/memory"),
    (REGISTRY, {"image": {"pullPolicy": "Always"}}, "pullPolicy"),
    (REGISTRY, {"replicas": 1.5}, "/replicas"),
    (REGISTRY, {"database": {"password": "x"}}, "password"),
    (REGISTRY, {"database": {"port": "5432"}}, "/database/port"),
    (REGISTRY, {"database": {"secretName": ""}}, "/database/secretName"),
    (REGISTRY, {"database": {"host": None}}, "host"),
    (REGISTRY, {"database": {"caBundle": "x"}}, "/database/caBundle"),
    (REGISTRY, {"serviceAccount": {"name": ""}}, "/serviceAccount/name"),
    (REGISTRY, {"internalLoadBalancer": {"scheme": "internet-facing"}}, "scheme"),
    (REGISTRY, {"internalLoadBalancer": {"enabled": "yes"}}, "/internalLoadBalancer/enabled"),
    (REGISTRY, {"internalLoadBalancer": {"sourceRanges": []}}, "/internalLoadBalancer/sourceRanges"),
    (REGISTRY, {"internalLoadBalancer": {"sourceRanges": ["0.0.0.0/0"]}}, "/internalLoadBalancer/sourceRanges/0"),
    (REGISTRY, {"internalLoadBalancer": {"class": "classic"}}, "/internalLoadBalancer/class"),
    (REGISTRY, {"vpcCidrs": "10.0.0.0/8"}, "/vpcCidrs"),
    (REGISTRY, {"resources": {"requests": {"disk": "1Gi"}}}, "disk"),
    (SOURCE, {"replicas": 1}, "replicas"),
    (SOURCE, {"image": {"tag": "latest"}}, "/image/tag"),
    (SOURCE, {"database": {"password": "x"}}, "password"),
    (SOURCE, {"database": {"host": ""}}, "/database/host"),
    (SOURCE, {"database": {"port": 70000}}, "/database/port"),
    (SOURCE, {"database": {"caBundle": "/etc/rds.pem"}}, "/database/caBundle"),
    (SOURCE, {"secrets": {"admin": None}}, "admin"),
    (SOURCE, {"secrets": {"admin": {"username": "x"}}}, "/secrets/admin"),
    (SOURCE, {"secrets": {"Lake Capture": "x"}}, "Lake Capture"),
    (SOURCE, {"sql": {"server": ""}}, "/sql/server"),
    (SOURCE, {"sql": {"databases": {"moma": ""}}}, "/sql/databases/moma"),
    (SOURCE, {"sql": {"databases": {"../moma": "SELECT 1"}}}, "../moma"),
    (SOURCE, {"sql": {"files": {}}}, "files"),
    (SOURCE, {"connect": {"url": "kafka-connect:8083"}}, "/connect/url"),
    (SOURCE, {"connect": {"connectors": {"moma": ""}}}, "/connect/connectors/moma"),
    (SOURCE, {"schedule": "hourly"}, "/schedule"),
    (SOURCE, {"serviceAccount": {"create": True}}, "create"),
    (SOURCE, {"vpcCidrs": ["0.0.0.0/0"]}, "/vpcCidrs/0"),
]


def identify(case: object) -> str:
    return case.parents[1].name if isinstance(case, Path) else str(case)


@pytest.mark.parametrize(("scenario", "values", "named"), WRONG, ids=identify)
def test_a_wrong_value_is_refused_and_named(scenario: Path, values: Values, named: str) -> None:
    result = template(scenario, values)
    assert result.returncode != 0
    assert "schema" in result.stderr
    assert named in result.stderr


@pytest.mark.parametrize("chart", ["source-database", "kafka-connect", "apicurio-registry"])
def test_the_defaults_alone_are_refused(chart: str) -> None:
    result = helm("template", "release", ROOT / "helm" / chart)
    assert result.returncode != 0
    assert "schema" in result.stderr


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ('{"connector.class": "x"', "unexpected end of JSON input"),
        (
            '{"database.password": "hunter2"}',
            "connector moma: database.password must be a reference, such as ${secrets:database:password}",
        ),
    ],
)
def test_a_connector_that_is_no_json_or_holds_a_password_is_refused(settings: str, named: str) -> None:
    result = template(CONNECT, {"connectors": {"moma": settings}})
    assert result.returncode != 0
    assert named in result.stderr


@pytest.mark.parametrize("chart", ["source-database", "kafka-connect", "apicurio-registry"])
def test_every_object_of_the_schema_is_closed(chart: str) -> None:
    import json

    def open_objects(node: object, path: str) -> list[str]:
        if isinstance(node, list):
            return [found for item in node for found in open_objects(item, path)]
        if not isinstance(node, dict):
            return []
        here = [path] if node.get("type") == "object" and node.get("additionalProperties", True) is True else []
        return here + [found for key, child in node.items() for found in open_objects(child, f"{path}/{key}")]

    schema = json.loads((ROOT / "helm" / chart / "values.schema.json").read_text())
    assert open_objects(schema, "") == []


def test_values_that_are_right_pass() -> None:
    assert rendered(CONNECT, {"databaseCaBundle": CERTIFICATE, "replicas": 2, "connectors": None})
    assert rendered(REGISTRY, {"database": {"caBundle": CERTIFICATE}, "internalLoadBalancer": {"enabled": False}})
    assert rendered(SOURCE, {"database": {"caBundle": CERTIFICATE}, "schedule": "0 * * * *"})
    assert len(scenarios()) == 8
