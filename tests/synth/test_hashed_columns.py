"""Where a definition hashes columns, the connector and the proof get the key, and nothing else does."""

import json
from pathlib import Path
from typing import Any

import pytest

from lake.aws import steps
from tests.synth.rights import allowed, text
from tests.synth.synthesis import ROOT, Synthesized, changed, described, synthesize

LINKED = ("build", "jars", "node_modules", "helm", "connector_configs", "constructs", "spark_jobs", "pom.xml")
PEOPLE = "  public.people: {key: [id], columns: {'*': drop, email: hash, note: keep}}\n"
KEY = "${secrets:hashes:password}"
MANAGED = {"connect.kind": "msk_connect"}


def with_people(folder: Path, changes: dict[str, Any]) -> Synthesized:
    for name in LINKED:
        (folder / name).symlink_to(ROOT / name)
    (folder / "databases").mkdir()
    (folder / "databases/moma.yaml").write_text((ROOT / "databases/moma.yaml").read_text() + PEOPLE)
    return synthesize("dev", described(folder, changed("dev", changes)), root=folder)


@pytest.fixture(scope="module")
def hashing(tmp_path_factory: pytest.TempPathFactory) -> Synthesized:
    return with_people(tmp_path_factory.mktemp("hashing"), {})


def connect_values(lake: Synthesized) -> dict[str, Any]:
    charts = [one for _, one in lake.resources("Custom::AWSCDK-EKS-HelmChart") if one["Release"] == "kafka-connect"]
    return dict(json.loads(text(charts[0]["Values"])))


def test_the_chart_names_the_key_and_the_connector_refers_to_it(hashing: Synthesized) -> None:
    values = connect_values(hashing)
    settings = json.loads(values["connectors"]["source_postgres_moma"])
    assert settings["hashed.secret"] == KEY and settings["converters"] == "hashed,exact"
    assert r"(?!(?:\Qid\E|\Qemail\E|\Qnote\E)\z)" in settings["column.exclude.list"]
    assert "Hashes" in values["hashesSecret"]
    readable = allowed(hashing.templates["connect"], "ConnectRole", "secretsmanager")["GetSecretValue"]
    assert any("Hashes" in one for one in readable)


def test_the_proof_gets_the_key_beside_its_password(hashing: Synthesized) -> None:
    parameters = {one.get("Name"): one["Value"] for _, one in hashing.resources("AWS::SSM::Parameter")}
    told = steps.StackOutputs(**json.loads(text(parameters[steps.parameter("dev")])))
    assert list(steps.secrets_of("verify", told)) == [steps.VERIFY_PASSWORD, steps.HASH_PASSWORD]
    command = steps.run("verify", told, [])
    assert f"{told.secret},{told.hashes}" in command
    assert f"{steps.VERIFY_PASSWORD},{steps.HASH_PASSWORD}" in command


def test_without_hashes_there_is_no_key(dev: Synthesized) -> None:
    assert "hashesSecret" not in connect_values(dev)
    assert "hashed.secret" not in connect_values(dev)["connectors"]["source_postgres_moma"]


def test_msk_connect_gets_the_key(tmp_path: Path) -> None:
    managed = with_people(tmp_path, MANAGED)
    worker = text(managed.only("AWS::KafkaConnect::WorkerConfiguration")["PropertiesFileContent"]["Fn::Base64"])
    assert ",hashes=" in worker
    assert managed.only("AWS::KafkaConnect::Connector")["ConnectorConfiguration"]["hashed.secret"] == KEY
    readable = allowed(managed.templates["connect"], "MskConnectRole", "secretsmanager")["GetSecretValue"]
    assert any("Hashes" in one for one in readable)
