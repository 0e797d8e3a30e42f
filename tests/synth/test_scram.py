"""streaming.auth: scram: users of Kafka with passwords, beside IAM."""

import json
from typing import Any

import pytest

from lake.aws.cost import estimate, load_prices
from lake.aws.environment import AwsEnvironment
from lake.rendering.kafka_login import IAM_LOGIN
from tests.existing import EXISTING_KAFKA, EXISTING_VPC
from tests.synth.rights import allowed, text
from tests.synth.synthesis import Synthesized, changed, varied

CHANGES: dict[str, Any] = {"streaming.auth": "scram"}
SECRETS = {"AmazonMSK_lake-dev-connect": "connect", "AmazonMSK_lake-dev-jobs": "jobs"}


@pytest.fixture(scope="module")
def scram(tmp_path_factory: pytest.TempPathFactory) -> Synthesized:
    return varied(tmp_path_factory.mktemp("scram"), "dev", CHANGES)


def test_nothing_is_found(scram: Synthesized) -> None:
    assert scram.failure == ""


def test_the_brokers_take_passwords_beside_iam_and_refuse_whom_no_acl_names(scram: Synthesized) -> None:
    login = scram.only("AWS::MSK::Cluster")["ClientAuthentication"]
    assert login == {
        "Sasl": {"Iam": {"Enabled": True}, "Scram": {"Enabled": True}},
        "Unauthenticated": {"Enabled": False},
    }
    properties = scram.only("AWS::MSK::Configuration")["ServerProperties"].splitlines()
    assert "allow.everyone.if.no.acl.found=false" in properties


def users(lake: Synthesized) -> dict[str, dict[str, Any]]:
    """The secrets of Kafka's users, by logical id."""
    return {id: one for id, one in lake.resources("AWS::SecretsManager::Secret") if one.get("Name") in SECRETS}


def test_each_user_has_a_secret_under_a_key_of_ours_which_the_cluster_reads(scram: Synthesized) -> None:
    found = users(scram)
    assert {one["Name"] for one in found.values()} == set(SECRETS)
    for one in found.values():
        made = one["GenerateSecretString"]
        assert json.loads(made["SecretStringTemplate"]) == {"username": SECRETS[one["Name"]]}
        assert {'"', "\\"} <= set(made["ExcludeCharacters"])  # a login of Kafka would need them quoted
        assert "UsersKey" in text(one["KmsKeyId"])
    association = scram.only("AWS::MSK::BatchScramSecret")
    assert {text(one).strip("<>") for one in association["SecretArnList"]} == set(found)


def test_a_program_reads_its_own_password_and_has_no_right_by_iam(scram: Synthesized) -> None:
    for part, role, own in (("connect", "ConnectRole", "Connect"), ("processing", "Nodes", "Jobs")):
        assert allowed(scram.templates[part], role, "kafka-cluster") == {}
        read = allowed(scram.templates[part], role, "secretsmanager")["GetSecretValue"]
        assert [one for one in read if "KafkaUsers" in one] == [one for one in read if f"KafkaUsers{own}" in one] != []


def test_rights_are_given_by_a_pod_that_logs_in_by_iam(scram: Synthesized) -> None:
    given = allowed(scram.templates["connect"], "RightsRole", "kafka-cluster")
    assert set(given) == {"Connect", "DescribeCluster", "AlterCluster"}
    (values,) = [
        json.loads(text(one["Values"]))
        for _, one in scram.resources("Custom::AWSCDK-EKS-HelmChart")
        if one["Release"] == "kafka-connect"
    ]
    assert values["security"]["protocol"] == "SCRAM" and "KafkaUsersConnect" in values["security"]["scramSecret"]
    assert "Scram" in values["bootstrapServers"] and "SaslIam" in values["rights"]["bootstrapServers"]
    granted = [(one["user"], name, one["operations"]) for one in values["rights"]["granted"] for name in one["names"]]
    assert ("connect", "moma.", ["Create", "Describe", "Write"]) in granted
    assert ("jobs", "moma.", ["Describe", "Read"]) in granted
    assert ("jobs", "lake_stream", ["Describe", "Read"]) in granted


def test_the_listeners_are_open_for_their_clients(scram: Synthesized) -> None:
    rules = [one["FromPort"] for id, one in scram.resources("AWS::EC2::SecurityGroupIngress") if "ToKafka" in id]
    assert sorted(rules) == [9096, 9096, 9098]


def test_jobs_log_in_by_a_secret_that_no_file_holds(scram: Synthesized) -> None:
    found = [json.loads(path.read_text()) for path in scram.folder.glob("asset.*.json")]
    (kafka,) = [one["kafka"] for one in found if isinstance(one, dict) and "kafka" in one]
    assert kafka["kafka.security.protocol"] == "SASL_SSL" and kafka["kafka.sasl.mechanism"] == "SCRAM-SHA-512"
    assert 'password="${secrets:kafka:password}"' in kafka["kafka.sasl.jaas.config"]
    assert kafka["kafka.config.providers.secrets.class"] == "lake.stream.SecretsByCli"
    assert kafka["kafka.config.providers.secrets.param.secrets"] == "kafka=AmazonMSK_lake-dev-jobs"
    assert IAM_LOGIN["sasl.client.callback.handler.class"] not in kafka.values()


def test_the_estimate_counts_keys_and_secrets(scram: Synthesized) -> None:
    environment = AwsEnvironment.model_validate(changed("dev", CHANGES))
    counted = {item.what: item.count for item in estimate(environment, load_prices())}
    assert counted["KMS key"] == len(scram.resources("AWS::KMS::Key"))
    assert counted["secret"] == len(scram.resources("AWS::SecretsManager::Secret"))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"streaming": {"kind": "serverless", "auth": "scram"}}, "knows no login but IAM"),
        ({**CHANGES, "connect.kind": "msk_connect"}, "logs in by IAM or not at all"),
        ({**CHANGES, "processing": {"kind": "serverless", "release": "emr-7.10.0"}}, "lack the AWS CLI"),
    ],
)
def test_what_cannot_log_in_so_is_refused(changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        AwsEnvironment.model_validate(changed("dev", changes))


def test_a_cluster_of_others_is_refused() -> None:
    changes = {"network": {"existing": EXISTING_VPC}, "streaming": {"existing": EXISTING_KAFKA, "auth": "scram"}}
    with pytest.raises(ValueError, match="up to its owner"):
        AwsEnvironment.model_validate(changed("dev", changes))
