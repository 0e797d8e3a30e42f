"""A client of Kafka gets its password from the AWS CLI of the node, and no message shows it."""

import json
from pathlib import Path
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from lake.rendering.kafka_login import by_secret
from spark_jobs.runtime.jvm import java, java_map

DESERIALIZER = "org.apache.kafka.common.serialization.ByteArrayDeserializer"
NAME = "config.providers.secrets.param"


def cli(folder: Path, answer: str, code: int = 0) -> Path:
    """A program that writes its arguments down and answers."""
    program = folder / "aws"
    program.write_text(f"#!/bin/sh\necho \"$@\" >> '{folder}/asked'\ncat '{folder}/answer'\nexit {code}\n")
    (folder / "answer").write_text(answer)
    program.chmod(0o755)
    return program


def login(spark: SparkSession, folder: Path, secret: str) -> str:
    """The login of a consumer as Kafka reads it in its settings."""
    settings: dict[str, Any] = {
        **by_secret("eu-central-1", secret),
        f"{NAME}.program": str(folder / "aws"),
        "key.deserializer": DESERIALIZER,
        "value.deserializer": DESERIALIZER,
    }
    config = java(spark, "org.apache.kafka.clients.consumer.ConsumerConfig")(
        java_map(spark, "java.util.HashMap", settings)
    )
    return str(config.getPassword("sasl.jaas.config").value())


def test_the_login_has_the_fields_of_the_secret(spark: SparkSession, tmp_path: Path) -> None:
    cli(tmp_path, json.dumps({"username": "jobs", "password": "of-a-test"}))
    found = login(spark, tmp_path, "AmazonMSK_one")
    assert 'username="jobs" password="of-a-test";' in found
    asked = (tmp_path / "asked").read_text().split()
    assert asked[:2] == ["secretsmanager", "get-secret-value"]
    assert asked[asked.index("--region") + 1] == "eu-central-1"
    assert asked[asked.index("--secret-id") + 1] == "AmazonMSK_one"


def test_a_jvm_asks_once(spark: SparkSession, tmp_path: Path) -> None:
    cli(tmp_path, json.dumps({"username": "jobs", "password": "of-a-test"}))
    assert login(spark, tmp_path, "AmazonMSK_two") == login(spark, tmp_path, "AmazonMSK_two")
    assert len((tmp_path / "asked").read_text().splitlines()) == 1


@pytest.mark.parametrize(
    ("answer", "code", "said"),
    [
        ("of-a-test", 0, "is not one JSON object"),
        ('"of-a-test"', 0, "is not one JSON object"),
        ('{"username": "jobs", "secret": "of-a-test"}', 0, "has no field 'password'"),
        ("of-a-test", 1, "cannot be read"),
    ],
)
def test_a_secret_that_is_wrong_is_named_and_not_shown(
    spark: SparkSession, tmp_path: Path, answer: str, code: int, said: str
) -> None:
    cli(tmp_path, answer, code)
    with pytest.raises(Py4JJavaError) as failure:
        login(spark, tmp_path, f"AmazonMSK_{tmp_path.name}")
    assert said in str(failure.value.java_exception) and "of-a-test" not in str(failure.value.java_exception)
