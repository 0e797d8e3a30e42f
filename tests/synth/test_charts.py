"""What the stacks tell the charts: values that they know, and connectors that Connect can take."""

import json
import re
from typing import Any

import pytest
import yaml

from lake.config import versions
from tests.synth.rights import text
from tests.synth.synthesis import ROOT, Synthesized

DEADLINE = re.compile(r"activeDeadlineSeconds: (\d+)")
ROLLBACK_S = 120  # the pods of the former release still run
FREE = ("connectors", "secrets", "databases", "tags")  # keys below are names, not settings


def values(lake: Synthesized, chart: str) -> dict[str, Any]:
    (found,) = [release for _, release in lake.resources("Custom::AWSCDK-EKS-HelmChart") if release["Release"] == chart]
    return dict(json.loads(text(found["Values"])))


def unknown(given: dict[str, Any], known: dict[str, Any], path: str = "") -> list[str]:
    """The keys of given that the chart has no default for."""
    wrong = []
    for key, value in given.items():
        if key not in known:
            wrong.append(path + key)
        elif isinstance(value, dict) and key not in FREE:
            wrong += unknown(value, known[key], f"{path}{key}.")
    return wrong


@pytest.mark.parametrize("chart", ["source-database", "kafka-connect", "apicurio-registry"])
def test_every_value_is_one_of_the_chart(lake: Synthesized, chart: str) -> None:
    known = yaml.safe_load((ROOT / "helm" / chart / "values.yaml").read_text())
    assert unknown(values(lake, chart), known) == []


def test_an_unknown_value_is_found() -> None:
    assert unknown({"a": {"b": 1, "c": 2}, "d": 3}, {"a": {"b": 0}}) == ["a.c", "d"]


def test_images_are_of_the_versions_that_the_local_lake_runs(lake: Synthesized) -> None:
    assert values(lake, "kafka-connect")["image"] == {"tag": versions.from_pom(ROOT, "kafka")}
    assert values(lake, "apicurio-registry")["image"] == {"tag": versions.from_pom(ROOT, "apicurio")}


def test_psql_is_of_the_version_of_the_server(lake: Synthesized) -> None:
    assert values(lake, "source-database")["image"] == {"tag": lake.only("AWS::RDS::DBInstance")["EngineVersion"]}


def test_the_database_is_prepared_before_the_registry_and_the_registry_before_connect(lake: Synthesized) -> None:
    resources = lake.templates["connect"]["Resources"]
    charts = {one["Properties"]["Release"]: id for id, one in resources.items() if one["Type"].endswith("HelmChart")}
    assert set(charts) == {"source-database", "apicurio-registry", "kafka-connect"}
    waits = {release: set(resources[id]["DependsOn"]) for release, id in charts.items()}
    assert "ToDatabase" in waits["source-database"]
    assert charts["source-database"] in waits["apicurio-registry"]
    assert charts["apicurio-registry"] in waits["kafka-connect"]


def test_the_preparation_knows_every_user_every_database_and_its_connector(lake: Synthesized) -> None:
    given = values(lake, "source-database")
    assert set(given["secrets"]) == {"admin", "lake_capture", "lake_verify", "registry"}
    assert given["connect"]["connectors"] == {"moma": connector(lake)["name"]}
    assert 'CREATE DATABASE "registry"' in given["sql"]["server"]
    assert set(given["sql"]["databases"]) == {"moma"}
    assert connector(lake)["publication.name"] in given["sql"]["databases"]["moma"]


def test_the_alarm_counts_what_a_failed_preparation_says(lake: Synthesized) -> None:
    filters = [one["FilterPattern"].strip('"') for _, one in lake.resources("AWS::Logs::MetricFilter")]
    program = (ROOT / "helm/source-database/files/prepare.sh").read_text()
    assert [words for words in filters if f'echo "{words}:' in program] == ["the source is not prepared"]


def test_every_client_of_the_database_checks_who_answers(lake: Synthesized) -> None:
    bundles = {
        values(lake, "source-database")["database"]["caBundle"],
        values(lake, "apicurio-registry")["database"]["caBundle"],
        values(lake, "kafka-connect")["databaseCaBundle"],
    }
    (bundle,) = bundles
    assert bundle.count("-----BEGIN CERTIFICATE-----") == 3  # RSA 2048, RSA 4096 and ECC 384
    assert connector(lake)["database.sslmode"] == "verify-full"
    worker = (ROOT / "helm/kafka-connect/templates/configmap-worker.yaml").read_text()
    folder, _, name = connector(lake)["database.sslrootcert"].rpartition("/")
    assert f"  {name}: |" in worker and folder == "/etc/lake/worker"


@pytest.mark.parametrize("chart", ["source-database", "kafka-connect", "apicurio-registry"])
def test_helm_ends_before_the_function_in_which_it_runs(dev: Synthesized, chart: str) -> None:
    """Helm gives its time to the pods and again to the hook; a failure still needs a rollback (AWS-7)."""
    (release,) = (one for _, one in dev.resources("Custom::AWSCDK-EKS-HelmChart") if one["Release"] == chart)
    patience = int(release["Timeout"].removesuffix("s"))
    templates = [path.read_text() for path in (ROOT / "helm" / chart / "templates").glob("*.yaml")]
    hooks = [int(found) for text in templates if "helm.sh/hook:" in text for found in DEADLINE.findall(text)]
    pods = patience if any("kind: Deployment" in text for text in templates) else 0
    functions = [function["Timeout"] for _, function in dev.resources("AWS::Lambda::Function") if is_kubectl(function)]
    assert max(hooks, default=0) < patience
    assert functions and pods + sum(hooks) + ROLLBACK_S <= min(functions)


def is_kubectl(function: dict[str, Any]) -> bool:
    return "Handler" in function and any("Kubectl" in text(layer) for layer in function.get("Layers", []))


def test_the_bundle_is_checked_before_it_is_run(lake: Synthesized) -> None:
    bundle = values(lake, "kafka-connect")["pluginBundle"]
    assert len(bundle["sha256"]) == 64 and bundle["key"].endswith(".gz")


def test_the_registry_is_reached_from_inside_only(lake: Synthesized) -> None:
    balancer = values(lake, "apicurio-registry")["internalLoadBalancer"]
    network = {"dev": "10.20.0.0/16", "demo": "10.30.0.0/16", "prod": "10.40.0.0/16"}[lake.name]
    (group,) = balancer.pop("securityGroups")
    assert "RegistryGroup" in group
    assert balancer.pop("class") == "eks.amazonaws.com/nlb"
    assert balancer == {"enabled": True, "sourceRanges": [network], "tags": {"lake": lake.name}}


def test_production_runs_more_than_one_of_each(prod: Synthesized) -> None:
    assert (values(prod, "kafka-connect")["replicas"], values(prod, "apicurio-registry")["replicas"]) == (3, 2)


def connector(lake: Synthesized) -> dict[str, str]:
    (settings,) = values(lake, "kafka-connect")["connectors"].values()
    return dict(json.loads(settings))


def test_the_connector_is_the_local_one_with_other_places(lake: Synthesized) -> None:
    template = json.loads((ROOT / "connector_configs/source_postgres_kafka.json").read_text())
    settings = connector(lake)
    fixed = {key: value for key, value in template.items() if "${" not in value}
    assert {key: settings[key] for key in fixed} == fixed
    added = {key for key in settings if key not in template and not key.startswith("topic.creation.")}
    logins = {
        f"{side}.converter.apicurio.auth.{name}" for side in ("key", "value") for name in ("username", "password")
    }
    assert added == {"database.sslmode", "database.sslrootcert"} | logins


def test_the_password_is_a_reference(lake: Synthesized) -> None:
    assert connector(lake)["value.converter.apicurio.auth.password"] == "${secrets:registry:password}"
    assert connector(lake)["database.password"] == "${secrets:database:password}"


def test_topics_are_made_as_they_must_be(prod: Synthesized, demo: Synthesized) -> None:
    made = {key: value for key, value in connector(prod).items() if key.startswith("topic.creation.default.")}
    assert made == {
        "topic.creation.default.replication.factor": "3",
        "topic.creation.default.partitions": "1",
        "topic.creation.default.cleanup.policy": "delete",
        "topic.creation.default.compression.type": "producer",
        "topic.creation.default.max.message.bytes": "16777216",
        "topic.creation.default.min.insync.replicas": "2",
        "topic.creation.default.retention.ms": "604800000",
    }
    assert connector(demo)["topic.creation.default.max.message.bytes"] == "8388608"  # what Serverless allows
    assert "topic.creation.default.min.insync.replicas" not in connector(demo)


def test_a_row_is_told_of_that_its_topic_would_not_take(prod: Synthesized, demo: Synthesized) -> None:
    assert [connector(lake)["transforms.limit.max.bytes"] for lake in (prod, demo)] == ["16252928", "7864320"]


def test_the_rights_are_for_the_names_that_the_worker_uses() -> None:
    from lake.rendering.kafka_acls import INTERNAL_TOPICS
    from stacks.charts import PASSWORD

    worker = (ROOT / "helm/kafka-connect/templates/configmap-worker.yaml").read_text()
    assert "group.id={{ .Values.group }}\n" in worker
    assert [name for name in INTERNAL_TOPICS if f".storage.topic={{{{ .Values.group }}}}-{name}\n" not in worker] == []
    assert PASSWORD in (ROOT / "helm/kafka-connect/values.yaml").read_text()
