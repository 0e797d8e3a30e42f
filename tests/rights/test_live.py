"""The logs of a lake with roles, read as calls."""

import json
from pathlib import Path

import pytest

from lake.config.environment import Environment
from tests.rights import live

S3 = "owner lake [29/November/2026:03:28:25 +0000] 127.0.0.1 owner ID s3_{} {} {} {} - 0 0 0 0 - Hadoop 3.3.4"
HIVE = "2026-11-29 03:27:26.298 INFO audit: ugi=root\tip=127.0.0.1\tcmd={}\t"


@pytest.fixture
def home(tmp_path: Path) -> Environment:
    made = Environment(name="local", root=tmp_path)
    for path in (made.iam, made.logs):
        path.mkdir(parents=True)
    return made


@pytest.mark.parametrize(
    ("operation", "path", "expected"),
    [
        ("GetObject", "/lake/silver/moma/artists_cow/a.parquet", [("s3:GetObject", "{Silver}/silver/x")]),
        ("HeadObject", "/lake/streamer/moma/a", [("s3:GetObject", "{Silver}/streamer/x")]),
        ("PutObject", "/lake/bronze/topics/t/a.avro", [("s3:PutObject", "{Bronze}/bronze/x")]),
        ("DeleteObject", "/lake/state/checkpoints/a", [("s3:DeleteObject", "{Artifacts}/state/x")]),
        (
            "CopyObject",
            "/lake/state/a",
            [("s3:GetObject", "{Artifacts}/state/x"), ("s3:PutObject", "{Artifacts}/state/x")],
        ),
        ("ListObjectsV2", "/lake/?list-type=2&prefix=silver%2Fmoma%2F&max-keys=2", [("s3:ListBucket", "{Silver}")]),
        ("HeadBucket", "/lake", []),
    ],
)
def test_a_request_to_s3(home: Environment, operation: str, path: str, expected: list[tuple[str, str]]) -> None:
    (home.iam / "s3.log").write_text(S3.format(operation, "-", path, 200) + "\n")
    assert live.of_s3(home) == {("Nodes", *one) for one in expected}


def test_a_request_to_s3_that_nobody_looked_up(home: Environment) -> None:
    (home.iam / "s3.log").write_text(S3.format("PutBucketPolicy", "-", "/lake?policy", 200) + "\n")
    with pytest.raises(KeyError, match="PutBucketPolicy"):
        live.of_s3(home)


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("source:127.0.0.1 get_all_databases", set()),
        (
            "source:127.0.0.1 get_database: global_temp",
            {("GetDatabase", "catalog"), ("GetDatabase", "database/global_temp")},
        ),
        (
            "get_table : db=moma_cow tbl=artists",
            {("GetTable", "catalog"), ("GetTable", "database/moma_cow"), ("GetTable", "table/moma_cow/artists")},
        ),
        ("Done cleaning up thread local RawStore", set()),
    ],
)
def test_a_call_of_the_metastore(home: Environment, command: str, expected: set[tuple[str, str]]) -> None:
    home.log("metastore").write_text(HIVE.format(command) + "\n")
    assert live.of_glue(home) == {("Nodes", f"glue:{action}", resource) for action, resource in expected}


def test_a_created_table_is_looked_for_before(home: Environment) -> None:
    home.log("metastore").write_text(HIVE.format("create_table: Table(tableName:artists, dbName:moma_cow, owner:root)"))
    of_the_table = {action for _, action, resource in live.of_glue(home) if resource.startswith("table/")}
    assert of_the_table == {"glue:GetTable", "glue:CreateTable"}


def test_added_partitions_are_of_the_tables_that_were_looked_at(home: Environment) -> None:
    lines = ["get_partitions : db=moma_cow tbl=artists", "add_partitions"]
    home.log("metastore").write_text("\n".join(map(HIVE.format, lines)))
    assert ("Nodes", "glue:BatchCreatePartition", "table/moma_cow/artists") in live.of_glue(home)


def test_a_call_of_the_metastore_that_nobody_looked_up(home: Environment) -> None:
    home.log("metastore").write_text(HIVE.format("drop_table : db=moma_cow tbl=artists"))
    with pytest.raises(KeyError, match="drop_table"):
        live.of_glue(home)


def test_decisions_of_the_broker(home: Environment) -> None:
    topic = "arn:aws:kafka:eu-central-1:123456789012:topic/lake-dev/0-1/moma.public.artists"
    cluster = "arn:aws:kafka:eu-central-1:123456789012:cluster/lake-dev/0-1"
    lines = [
        {"role": "Nodes", "action": "kafka-cluster:ReadData", "resource": topic, "allowed": True},
        {"role": "Nodes", "action": "kafka-cluster:AlterCluster", "resource": cluster, "allowed": False},
    ]
    (home.iam / "decisions.jsonl").write_text("\n".join(map(json.dumps, lines)))
    assert live.decisions(home) == {("Nodes", "kafka-cluster:ReadData", "topic/moma.public.artists")}
    assert live.decisions(home, allowed=False) == {("Nodes", "kafka-cluster:AlterCluster", "cluster")}
