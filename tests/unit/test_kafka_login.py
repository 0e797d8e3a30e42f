"""Who logs in at the local Kafka and how: nobody by default; with kafka.auth: iam or scram, Connect and the jobs."""

from pathlib import Path

import pytest

from lake.aws.rendering import job_pipeline
from lake.config.definition import Database
from lake.config.environment import PROJECT, Environment, Kafka, load_environment
from lake.config.errors import BadInput
from lake.local import connect, iam, kafka
from lake.local.spark_submit import spark_conf
from lake.rendering.kafka_login import IAM_LOGIN
from lake.rendering.pipeline import pipeline

SHOP = Database.model_validate({"database": "shop", "tables": {"public.sale": {"key": ["id"]}}})
PLAIN, ROLES = "127.0.0.1:27001", "127.0.0.1:27008"


def lake(root: Path, auth: str) -> Environment:
    return Environment(name="local", root=root, kafka=Kafka.model_validate({"auth": auth}))


def test_by_default_nobody_logs_in(tmp_path: Path) -> None:
    home = lake(tmp_path, "none")
    settings = kafka.Kafka(home).settings()
    assert settings["listeners"] == f"BROKER://{PLAIN},CONTROLLER://127.0.0.1:27002"
    assert "authorizer.class.name" not in settings
    assert pipeline([SHOP], home)["kafka"] == {"kafka.bootstrap.servers": PLAIN}
    assert iam.variables(home, iam.CONNECT) == {}


def test_the_broker_has_a_listener_for_roles_beside_that_of_the_tools(tmp_path: Path) -> None:
    settings = kafka.Kafka(lake(tmp_path, "iam")).settings()
    assert settings["listeners"] == f"BROKER://{PLAIN},CONTROLLER://127.0.0.1:27002,IAM://{ROLES}"
    assert settings["inter.broker.listener.name"] == "BROKER"
    assert str(settings["listener.security.protocol.map"]).endswith(",IAM:SASL_SSL")
    assert settings["authorizer.class.name"] == "lake.iam.PolicyAuthorizer"


def test_no_password_is_in_the_settings_of_the_broker(tmp_path: Path) -> None:
    settings = kafka.Kafka(lake(tmp_path, "iam")).settings()
    secrets = [str(value) for key, value in settings.items() if "password" in key]
    assert secrets and all(one.startswith("${file:") for one in secrets)


def test_every_client_of_connect_logs_in(tmp_path: Path) -> None:
    settings = connect.Connect(lake(tmp_path, "iam")).settings()
    for prefix in ("", "producer.", "consumer.", "admin."):
        assert settings[f"{prefix}bootstrap.servers"] == ROLES
        assert settings.items() >= {f"{prefix}{key}": value for key, value in IAM_LOGIN.items()}.items()


def test_jobs_log_in_as_on_aws(tmp_path: Path) -> None:
    """The settings of the job on AWS, and beside them only who is trusted: no authority signs this machine's key."""
    from lake.aws.environment import load_aws_environment

    here = pipeline([SHOP], lake(tmp_path, "iam"))["kafka"]
    there = job_pipeline([SHOP], load_aws_environment(PROJECT, "dev"), PROJECT, "stream")["kafka"]
    trust = {"kafka.ssl.truststore.type", "kafka.ssl.truststore.location"}
    address = {"kafka.bootstrap.servers"}
    assert {key: here[key] for key in here.keys() - trust - address} == {
        key: value for key, value in there.items() if key not in address
    }


def test_the_client_is_on_the_class_path_of_jobs_that_need_it(tmp_path: Path) -> None:
    jars = {auth: spark_conf(lake(tmp_path, auth))["spark.driver.extraClassPath"] for auth in ("none", "iam")}
    assert jars["none"] == f"{tmp_path}/build/spark/*"
    assert jars["iam"] == f"{jars['none']}:{tmp_path}/build/aws/worker/*"


def test_the_broker_has_users_who_may_do_what_an_acl_allows(tmp_path: Path) -> None:
    settings = kafka.Kafka(lake(tmp_path, "scram")).settings()
    assert settings["listeners"] == f"BROKER://{PLAIN},CONTROLLER://127.0.0.1:27002,SCRAM://{ROLES}"
    assert str(settings["listener.security.protocol.map"]).endswith(",SCRAM:SASL_SSL")
    assert settings["authorizer.class.name"] == "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
    assert settings["allow.everyone.if.no.acl.found"] == "false"


def test_each_program_has_the_login_of_its_own_user_and_no_setting_a_password(tmp_path: Path) -> None:
    home = lake(tmp_path, "scram")
    worker, job = connect.Connect(home).settings(), pipeline([SHOP], home)["kafka"]
    for prefix in ("", "producer.", "consumer.", "admin."):
        assert worker[f"{prefix}bootstrap.servers"] == ROLES
        assert worker[f"{prefix}sasl.jaas.config"] == f"${{directory:{home.scram}/connect:jaas}}"
    assert str(worker["config.providers.directory.param.allowed.paths"]) == f"{home.scram}/connect"
    assert job["kafka.bootstrap.servers"] == ROLES and job["kafka.group.id"] == "lake_stream"
    assert job["kafka.sasl.jaas.config"] == f"${{directory:{home.scram}/jobs:jaas}}"
    assert job["kafka.config.providers.directory.param.allowed.paths"] == f"{home.scram}/jobs"


def test_connect_starts_after_the_broker_that_must_know_it(tmp_path: Path) -> None:
    assert {auth: connect.Connect(lake(tmp_path, auth)).needs for auth in ("none", "scram")} == {
        "none": (),
        "scram": ("kafka",),
    }


def test_another_login_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "local.yaml").write_text("name: local\nkafka:\n  auth: kerberos\n")
    monkeypatch.setenv("LAKE_ENVIRONMENTS_DIR", str(tmp_path))
    with pytest.raises(BadInput, match="auth"):
        load_environment()
