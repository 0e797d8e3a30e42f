"""What each role may do, by hand: the whole of it, so that a right too many is seen as well as one too few."""

from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from lake.aws import rendering
from lake.config.definition import load_databases
from lake.rendering import sales
from tests.synth.rights import allowed, listed, names, statements, text
from tests.synth.synthesis import Synthesized

ROOT = Path(__file__).resolve().parents[2]
TOPICS = {"moma.*"}
STREAMED = {"pagila.sales.spark.streaming", "pagila.sales.spark.streaming.out"}
SALES = {*STREAMED, "pagila.sales.avro", "pagila.sales.summary.avro"}
HEARTBEAT = {"__debezium-heartbeat.moma"}
INTERNAL = {"connect-configs", "connect-offsets", "connect-status"}


def kafka(lake: Synthesized, part: str, role: str) -> dict[str, set[str]]:
    return {action: names(found) for action, found in allowed(lake.templates[part], role, "kafka-cluster").items()}


def test_the_definition_is_the_one_these_tests_were_written_for() -> None:
    assert set(rendering.captured_topics(load_databases(ROOT))) == TOPICS
    assert all(fnmatchcase(topic, "moma.*") for topic in rendering.table_topics(load_databases(ROOT)))


def test_connect_writes_the_captured_topics_and_keeps_its_own(lake: Synthesized) -> None:
    rights = kafka(lake, "connect", "ConnectRole")
    cluster = rights.pop("Connect") | rights.pop("WriteDataIdempotently")
    assert len(cluster) == 1  # the cluster itself
    assert rights == {
        "CreateTopic": TOPICS | HEARTBEAT | INTERNAL,
        "DescribeTopic": TOPICS | HEARTBEAT | INTERNAL,
        "WriteData": TOPICS | HEARTBEAT | INTERNAL,
        "ReadData": INTERNAL,
        "DescribeTopicDynamicConfiguration": INTERNAL,
        "DescribeGroup": {"connect"},
        "AlterGroup": {"connect"},
    }


def test_jobs_read_the_tables_and_write_no_topic(prod: Synthesized) -> None:
    rights = kafka(prod, "processing", "Nodes")
    groups = {"lake_silver", "lake_bronze"}
    assert len(rights.pop("Connect")) == 1
    assert rights == {
        "DescribeTopic": TOPICS,
        "ReadData": TOPICS,
        "DescribeGroup": groups,
        "AlterGroup": groups,
    }


@pytest.mark.parametrize("name", ["dev", "demo"])
def test_jobs_about_sales_write_their_topics_too(name: str, request: pytest.FixtureRequest) -> None:
    rights = kafka(request.getfixturevalue(name), "processing", "Nodes")
    groups = {"lake_stream", "lake_sales", *(f"lake_{job}" for job in sales.STREAMING)}
    assert rights.pop("Connect") == rights.pop("WriteDataIdempotently")
    assert rights == {
        "DescribeTopic": TOPICS | SALES,
        "ReadData": TOPICS | SALES,
        "CreateTopic": SALES,
        "WriteData": SALES,
        "DescribeGroup": groups,
        "AlterGroup": groups,
    }


SECRETS = ("UsersCapture", "UsersVerify", "UsersRegistry", "DatabaseSecret", "RegistryWriter", "ConnectOperators")


def secrets(lake: Synthesized, role: str) -> set[str]:
    """The secrets that a role may read, by the words in SECRETS."""
    found = allowed(lake.templates["connect"], role, "secretsmanager")["GetSecretValue"]
    assert all(any(name in one for name in SECRETS) for one in found)
    return {name for name in SECRETS for one in found if name in one}


def test_the_registry_reads_two_secrets_and_nothing_else(lake: Synthesized) -> None:
    services = {
        action.partition(":")[0]
        for statement in statements(lake.templates["connect"], "RegistryRole")
        for action in listed(statement["Action"])
    }
    assert services == {"secretsmanager", "kms"}
    assert secrets(lake, "RegistryRole") == {"UsersRegistry", "RegistryWriter"}


def test_the_preparation_reads_the_secrets_of_its_users_and_of_connect_and_nothing_else(lake: Synthesized) -> None:
    template = lake.templates["connect"]
    services = {
        action.partition(":")[0]
        for statement in statements(template, "PreparationRole")
        for action in listed(statement["Action"])
    }
    assert services == {"secretsmanager", "kms"}
    assert secrets(lake, "PreparationRole") == set(SECRETS) - {"RegistryWriter"}


def test_who_calls_connect_reads_its_login_and_the_hook_nothing_else(lake: Synthesized) -> None:
    template = lake.templates["connect"]
    assert secrets(lake, "HookRole") == secrets(lake, "RequesterRole") == {"ConnectOperators"}
    actions = {action for one in statements(template, "HookRole") for action in listed(one["Action"])}
    assert {action.partition(":")[0] for action in actions} == {"secretsmanager", "kms"}


def test_connect_reads_its_secrets_and_its_bundle(lake: Synthesized) -> None:
    template = lake.templates["connect"]
    assert secrets(lake, "ConnectRole") == {"UsersCapture", "RegistryWriter", "ConnectOperators"}
    objects = allowed(template, "ConnectRole", "s3")
    assert set(objects) == {"GetObject"}
    assert all(one.endswith((".tar.gz", ".gz")) for one in objects["GetObject"])


def test_whoever_answers_operators_takes_requests_and_leaves_answers(lake: Synthesized) -> None:
    template = lake.templates["connect"]
    rights = allowed(template, "RequesterRole", "s3")
    assert {action: {one.partition(">")[2] for one in found} for action, found in rights.items()} == {
        "ListBucket": {""},
        "GetObject": {"/connectors/requests/*"},
        "DeleteObject": {"/connectors/requests/*"},
        "PutObject": {"/connectors/answers/*"},
    }
    services = {
        action.partition(":")[0]
        for statement in statements(template, "RequesterRole")
        for action in listed(statement["Action"])
    }
    assert services == {"s3", "kms", "secretsmanager"}


def test_jobs_write_below_their_prefixes(lake: Synthesized) -> None:
    rights = allowed(lake.templates["processing"], "Nodes", "s3")
    assert {one.partition(">")[2] for one in rights["PutObject"]} == {
        "/silver/*",
        "/streamer/*",
        *([] if lake.name == "prod" else ["/sales/*"]),
        "/refined/*",
        "/bronze/*",
        "/state/*",
        "/emr/*",
    }
    assert rights["PutObject"] == rights["DeleteObject"]


def test_jobs_register_tables_in_their_databases(lake: Synthesized) -> None:
    rights = allowed(lake.templates["processing"], "Nodes", "glue")
    parts = {one.rpartition(":")[2] for one in rights["UpdateTable"]}
    databases = ("moma_cow", "moma_mor", "moma_cow_streamer", "moma_mor_streamer", "moma_quarantine", "refined")
    tables = {part for name in databases for part in (f"database/{name}", f"table/{name}/*")}
    assert parts == {"catalog"} | tables
    looked_for = {"database/default", "database/global_temp"}
    assert {one.rpartition(":")[2] for one in rights["GetDatabase"]} == parts | looked_for
    assert "DeleteDatabase" not in rights


def test_jobs_delete_tables_for_analysts_alone(lake: Synthesized) -> None:
    """lake refine replaces a table; the tables of the lake stay in the catalog."""
    rights = allowed(lake.templates["processing"], "Nodes", "glue")
    assert {one.rpartition(":")[2] for one in rights["DeleteTable"]} == {
        "catalog",
        "database/refined",
        "table/refined/*",
    }


# role -> actions that AWS lets nobody narrow to a resource, each with its reason
WILDCARDS = {
    "Nodes": {"cloudwatch:PutMetricData": "narrowed to one namespace by a condition"},
    "ConnectRole": {},
    "RequesterRole": {},
    "HookRole": {},
    "RegistryRole": {},
    "PreparationRole": {},
    "RestartsRole": {},
}


@pytest.mark.parametrize(
    ("part", "role"),
    [
        ("processing", "Nodes"),
        ("connect", "ConnectRole"),
        ("connect", "RequesterRole"),
        ("connect", "HookRole"),
        ("connect", "RegistryRole"),
        ("connect", "PreparationRole"),
        ("processing", "RestartsRole"),
    ],
)
def test_no_wildcard_but_the_listed(lake: Synthesized, part: str, role: str) -> None:
    free = {
        action
        for statement in statements(lake.templates[part], role)
        for action in listed(statement["Action"])
        if "*" in action or "*" in [text(one) for one in listed(statement["Resource"])]
    }
    assert free == set(WILDCARDS[role])


def test_roles_of_pods_belong_to_one_service_account(lake: Synthesized) -> None:
    roles = {
        id: role["AssumeRolePolicyDocument"]["Statement"][0]
        for id, role in lake.resources("AWS::IAM::Role")
        if "pods.eks" in str(role["AssumeRolePolicyDocument"])
    }
    accounts = {one["Condition"]["StringEquals"]["aws:RequestTag/kubernetes-service-account"] for one in roles.values()}
    assert accounts == {
        "source-database",
        "kafka-connect",
        "kafka-connect-requests",
        "kafka-connect-hook",
        "apicurio-registry",
        "cloudwatch-agent",
    }
    for statement in roles.values():
        assert statement["Action"] == ["sts:AssumeRole", "sts:TagSession"]
        assert set(statement["Condition"]["StringEquals"]) == {
            "aws:RequestTag/eks-cluster-arn",
            "aws:RequestTag/kubernetes-namespace",
            "aws:RequestTag/kubernetes-service-account",
        }


def test_nodes_read_the_outputs_of_their_deployment(lake: Synthesized) -> None:
    """The reporter finds there what it reports on."""
    rights = allowed(lake.templates["processing"], "Nodes", "ssm")
    assert {action: {one.rpartition(":")[2] for one in found} for action, found in rights.items()} == {
        "GetParameter": {f"parameter/lake/{lake.name}/sheet"}
    }


def test_the_function_that_restarts_jobs_sees_one_cluster_and_the_names_of_reports(lake: Synthesized) -> None:
    template = lake.templates["processing"]
    emr = allowed(template, "RestartsRole", "elasticmapreduce")
    assert set(emr) == {"DescribeCluster", "ListSteps", "AddJobFlowSteps"}
    assert {one.rpartition(":")[2] for found in emr.values() for one in found} == {"cluster/<Cluster>"}
    (listing,) = [one for one in statements(template, "RestartsRole") if one["Action"] == "s3:ListBucket"]
    jobs = {"prod": ["silver", "bronze"]}.get(lake.name, ["stream"])
    reports = listed(listing["Condition"]["StringEquals"]["s3:prefix"])
    assert sorted(reports) == sorted(f"state/{job}/status.json" for job in jobs)
    assert set(allowed(template, "RestartsRole", "s3")) == {"ListBucket"}
    assert set(allowed(template, "RestartsRole", "logs")) == {"CreateLogStream", "PutLogEvents"}


def test_jobs_read_the_secret_of_the_user_that_verifies(lake: Synthesized) -> None:
    """And the administrator's where rows may be loaded: never where data are kept."""
    secrets = allowed(lake.templates["processing"], "Nodes", "secretsmanager")["GetSecretValue"]
    found = {part for part in ("UsersVerify", "DatabaseSecret") for one in secrets if part in one}
    assert found == ({"UsersVerify"} if lake.name == "prod" else {"UsersVerify", "DatabaseSecret"})
    assert len(secrets) == len(found)
