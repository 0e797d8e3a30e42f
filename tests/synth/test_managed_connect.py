"""connect.kind: msk_connect: connectors of MSK Connect, and the programs of the charts on Fargate; no Kubernetes."""

import base64
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest

from lake.aws.cost import estimate, load_prices
from lake.aws.environment import load_aws_environment
from tests.existing import EXISTING_KAFKA, EXISTING_VPC
from tests.synth.rights import allowed, names, text
from tests.synth.synthesis import ROOT, Synthesized, changed, described, synthesize

HASH = re.compile(r"[0-9A-F]{8}$")  # of the CDK, behind a logical id
CHANGES: dict[str, Any] = {"connect.kind": "msk_connect"}
REGISTRY = {"registry_replicas": 2, "units": 2}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return described(tmp_path_factory.mktemp("managed"), changed("dev", CHANGES))


@pytest.fixture(scope="module")
def managed(folder: Path) -> Synthesized:
    return synthesize("dev", folder)


@pytest.fixture(scope="module")
def hosted(tmp_path_factory: pytest.TempPathFactory) -> Synthesized:
    """The same with brokers of others, images of a registry on ECR, and larger."""
    content = {
        **changed("dev", {"images": {"registry": "123456789012.dkr.ecr.eu-central-1.amazonaws.com/lake"}}),
        "network": {"existing": EXISTING_VPC},
        "streaming": {"existing": EXISTING_KAFKA},
        "connect": {"kind": "msk_connect", **REGISTRY},
    }
    return synthesize("dev", described(tmp_path_factory.mktemp("hosted"), content))


def containers(lake: Synthesized, last: str) -> dict[str, dict[str, Any]]:
    """The containers of the task whose last one has this name."""
    found = [one["ContainerDefinitions"] for _, one in lake.resources("AWS::ECS::TaskDefinition")]
    (wanted,) = [one for one in found if one[-1]["Name"] == last]
    return {one["Name"]: one for one in wanted}


def of_type(lake: Synthesized, kind: str) -> dict[str, Any]:
    (found,) = [one for one in lake.templates["connect"]["Resources"].values() if one["Type"] == kind]
    return dict(found)


def test_nothing_of_kubernetes_is_made(managed: Synthesized, hosted: Synthesized) -> None:
    for lake in (managed, hosted):
        made = {one["Type"] for one in lake.templates["connect"]["Resources"].values()}
        assert {kind for kind in made if "EKS" in kind} == set()
        assert lake.failure == ""  # of cdk-nag


def test_the_other_stacks_know_the_registry_alone(managed: Synthesized, dev: Synthesized) -> None:
    assert managed.templates.keys() == dev.templates.keys()
    (sheet,) = [
        text(one["Value"])
        for _, one in managed.resources("AWS::SSM::Parameter")
        if one.get("Name") == "/lake/dev/sheet"
    ]
    assert ":8080" in sheet and "RegistryBalancer" in sheet
    assert managed.only("AWS::ElasticLoadBalancingV2::LoadBalancer")["Scheme"] == "internal"


# --- The connectors.


def test_a_connector_has_the_settings_of_eks_less_what_its_worker_has(managed: Synthesized, dev: Synthesized) -> None:
    (chart,) = [
        json.loads(text(one["Values"]))
        for _, one in dev.resources("Custom::AWSCDK-EKS-HelmChart")
        if one["Release"] == "kafka-connect"
    ]
    on_eks = json.loads(chart["connectors"]["source_postgres_moma"])
    here = managed.only("AWS::KafkaConnect::Connector")["ConnectorConfiguration"]
    other = {key for key in on_eks.keys() | here.keys() if text(here.get(key, "")) != text(on_eks.get(key, ""))}
    assert {key for key in other if not key.startswith("producer.override.")} == {
        *("name", "unavailable.value.placeholder"),
        *("database.sslrootcert", "database.sslfactory", "driver.sslfactoryarg"),
        *(f"{side}.converter.apicurio.registry.url" for side in ("key", "value")),
    }


def test_the_connectors_know_their_brokers_and_log_in_by_iam(managed: Synthesized) -> None:
    connector = managed.only("AWS::KafkaConnect::Connector")
    assert connector["KafkaClusterClientAuthentication"] == {"AuthenticationType": "IAM"}
    assert connector["KafkaClusterEncryptionInTransit"] == {"EncryptionType": "TLS"}
    assert connector["Capacity"] == {"ProvisionedCapacity": {"McuCount": 1, "WorkerCount": 1}}
    assert connector["ConnectorName"] == "lake-dev-source_postgres_moma"


def test_no_password_is_in_a_template(managed: Synthesized) -> None:
    settings = managed.only("AWS::KafkaConnect::Connector")["ConnectorConfiguration"]
    secret = {key: value for key, value in settings.items() if "password" in key}
    assert len(secret) == 3 and all(value.startswith("${secrets:") for value in secret.values())


def test_the_worker_keeps_offsets_in_a_topic_that_outlives_a_connector(managed: Synthesized) -> None:
    content = text(managed.only("AWS::KafkaConnect::WorkerConfiguration")["PropertiesFileContent"]["Fn::Base64"])
    assert "\noffset.storage.topic=connect-offsets\n" in content
    assert "\nproducer.max.request.size=16777216\n" in content


def test_a_change_of_settings_leaves_plugin_and_worker(managed: Synthesized, tmp_path: Path) -> None:
    for name in ("build", "jars", "node_modules", "helm", "connector_configs", "constructs", "spark_jobs", "pom.xml"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "databases").mkdir()
    more = (ROOT / "databases/moma.yaml").read_text() + "  public.more: {key: [id]}\n"
    (tmp_path / "databases/moma.yaml").write_text(more)
    grown = synthesize("dev", described(tmp_path, changed("dev", CHANGES)), root=tmp_path)
    before, after = (lake.only("AWS::KafkaConnect::Connector") for lake in (managed, grown))
    differing = {key for key in before if before[key] != after[key]}
    assert differing == {"ConnectorConfiguration"}
    for kind in ("CustomPlugin", "WorkerConfiguration"):
        assert grown.only(f"AWS::KafkaConnect::{kind}") == managed.only(f"AWS::KafkaConnect::{kind}")


def test_a_parameter_takes_the_connectors_away_and_nothing_else(managed: Synthesized) -> None:
    template = managed.templates["connect"]
    assert template["Parameters"]["Connectors"]["AllowedValues"] == ["present", "absent"]
    (condition,) = template["Conditions"]
    (test,) = [{"Fn::Equals": [{"Ref": "Connectors"}, "present"]}]
    assert template["Conditions"][condition] == test
    having = {one["Type"] for one in template["Resources"].values() if one.get("Condition") == condition}
    assert having == {"AWS::KafkaConnect::Connector"}


def test_the_plugin_has_all_plugins_in_one_folder(managed: Synthesized) -> None:
    key = managed.only("AWS::KafkaConnect::CustomPlugin")["Location"]["S3Location"]["FileKey"]
    with zipfile.ZipFile(managed.folder / f"asset.{key}") as plugin:
        jars = plugin.namelist()
    assert {name for name in jars if "/" in name} == set()
    assert {"lake-transforms.jar", "lake-secrets.jar", "apicurio-converter-service.jar"} <= set(jars)


def test_the_role_of_connectors_serves_this_lake_alone(managed: Synthesized) -> None:
    (role,) = [
        one
        for _, one in managed.resources("AWS::IAM::Role")
        if "kafkaconnect.amazonaws.com" in json.dumps(one["AssumeRolePolicyDocument"])
    ]
    (statement,) = role["AssumeRolePolicyDocument"]["Statement"]
    assert text(statement["Condition"]["ArnLike"]["aws:SourceArn"]).endswith(":connector/lake-dev-*")
    assert statement["Condition"]["StringEquals"] == {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}


def test_connectors_write_what_they_capture_and_keep_their_own(managed: Synthesized) -> None:
    rights = allowed(managed.templates["connect"], "MskConnectRole", "kafka-cluster")
    own = {"connect-offsets", "__amazon_msk_connect_*"}
    assert names(rights["WriteData"]) == {"moma.*", "__debezium-heartbeat.moma", *own}
    assert names(rights["ReadData"]) == own
    assert names(rights["AlterGroup"]) == {"__amazon_msk_connect_*"}
    secrets = allowed(managed.templates["connect"], "MskConnectRole", "secretsmanager")["GetSecretValue"]
    assert len(secrets) == 2 and any("UsersCapture" in one for one in secrets)


# --- The tasks.


def test_the_steps_of_the_preparation_are_those_of_the_chart(managed: Synthesized) -> None:
    steps = containers(managed, "ask-for-rows")
    assert list(steps) == ["fetch", "write-logins", "prepare", "ask-connect", "ask-for-rows"]
    assert [one["Essential"] for one in steps.values()] == [False] * 4 + [True]
    before = [one["DependsOn"][0] for one in list(steps.values())[1:]]
    assert [(one["ContainerName"], one["Condition"]) for one in before] == [
        (name, "SUCCESS") for name in list(steps)[:4]
    ]
    assert steps["prepare"]["EntryPoint"] == steps["ask-for-rows"]["EntryPoint"]


def test_only_the_fetching_container_is_root_and_no_file_system_is_written(managed: Synthesized) -> None:
    found = [one for last in ("ask-for-rows", "registry") for one in containers(managed, last).values()]
    assert {one["Name"] for one in found if one["User"] == "0"} == {"fetch"}
    assert all(one["ReadonlyRootFilesystem"] for one in found)


def test_no_secret_is_a_variable(managed: Synthesized) -> None:
    """Variables name secrets; the values are files that one container fetches for the others."""
    for last in ("ask-for-rows", "registry"):
        for container in containers(managed, last).values():
            assert "Secrets" not in container
            values = [text(one["Value"]) for one in container.get("Environment", [])]
            assert not any("{{resolve" in value for value in values)


def test_the_files_are_those_of_the_charts_and_the_sql(managed: Synthesized) -> None:
    fetched = {last: dict_of(containers(managed, last)["fetch"]) for last in ("ask-for-rows", "registry")}
    inside = {last: unzipped(managed, variables["FILES"]) for last, variables in fetched.items()}
    assert {"programs/prepare.sh", "programs/write_logins.py", "programs/read_secret.py", "database.pem"} <= set(
        inside["ask-for-rows"]
    )
    sql = {"sql/server.sql", "sql/shared.sql", "sql/databases/moma.sql"}
    assert {"programs/ask_connectors.sh", *sql} <= set(inside["ask-for-rows"])
    assert sorted(inside["registry"]) == ["database.pem", "programs/read_secret.py", "programs/registry_properties.py"]


def dict_of(container: dict[str, Any]) -> dict[str, str]:
    return {one["Name"]: text(one["Value"]) for one in container["Environment"]}


def unzipped(lake: Synthesized, url: str) -> list[str]:
    name = url.rpartition("/")[2].rstrip(">")
    with zipfile.ZipFile(lake.folder / f"asset.{name}") as archive:
        return archive.namelist()


def test_the_registry_runs_after_the_preparation_and_connectors_after_the_registry(managed: Synthesized) -> None:
    resources = managed.templates["connect"]["Resources"]
    done = [id for id, one in resources.items() if one["Type"] == "AWS::CloudFormation::CustomResource"]
    service = [id for id, one in resources.items() if one["Type"] == "AWS::ECS::Service"]
    assert set(done) <= set(of_type(managed, "AWS::ECS::Service")["DependsOn"])
    assert set(service) <= set(of_type(managed, "AWS::KafkaConnect::Connector")["DependsOn"])


def test_nothing_starts_before_its_rights_and_its_ways(managed: Synthesized) -> None:
    preparation, service, connector = (
        {HASH.sub("", id) for id in of_type(managed, kind)["DependsOn"]}
        for kind in ("AWS::CloudFormation::CustomResource", "AWS::ECS::Service", "AWS::KafkaConnect::Connector")
    )
    assert {
        "PreparationTaskRoleDefaultPolicy",
        "PreparationExecutionRoleDefaultPolicy",
        "TasksToDatabase",
    } <= preparation
    assert {"RegistryTaskTaskRoleDefaultPolicy", "RegistryTaskExecutionRoleDefaultPolicy"} <= service
    assert {"RegistryFrom8080", "RegistryFrom9000", "RegistryBalancerListener"} <= service
    assert {"ToDatabase", "ToKafka", "ToRegistry", "MskConnectRoleDefaultPolicy"} <= connector


def test_the_preparation_is_repeated_every_five_minutes(managed: Synthesized) -> None:
    (rule,) = [
        one
        for one in managed.templates["connect"]["Resources"].values()
        if one["Type"] == "AWS::Events::Rule" and "ScheduleExpression" in one["Properties"]
    ]
    (target,) = rule["Properties"]["Targets"]
    assert rule["Properties"]["ScheduleExpression"] == "rate(5 minutes)"
    assert target["EcsParameters"]["NetworkConfiguration"]["AwsVpcConfiguration"]["AssignPublicIp"] == "DISABLED"


def test_the_preparation_reads_all_users_and_the_registry_two_secrets(managed: Synthesized) -> None:
    template = managed.templates["connect"]
    read = {
        role: allowed(template, role, "secretsmanager")["GetSecretValue"]
        for role in ("PreparationTask", "RegistryTask")
    }
    assert {role: len(found) for role, found in read.items()} == {"PreparationTask": 4, "RegistryTask": 2}
    restarted = allowed(template, "PreparationTask", "kafkaconnect")["RestartConnector"]
    assert {one.partition(":connector")[2] for one in restarted} == {"/lake-dev-*", "-operation/lake-dev-*"}


def test_who_reaches_whom(managed: Synthesized) -> None:
    template = managed.templates["connect"]["Resources"]
    rules = [one["Properties"] for one in template.values() if one["Type"] == "AWS::EC2::SecurityGroupIngress"]
    found = {(text(one["SourceSecurityGroupId"])[1:].partition("Group")[0], one["FromPort"]) for one in rules}
    assert found == {
        *{("Tasks", 5432), ("Connectors", 5432), ("Connectors", 9098), ("Connectors", 8080)},
        *{("Registry", 8080), ("Registry", 9000)},
    }


def test_images_of_a_registry_on_ecr_are_pulled_by_name(hosted: Synthesized) -> None:
    template = hosted.templates["connect"]
    pulled = allowed(template, "RegistryTaskExecutionRole", "ecr")["BatchGetImage"]
    assert {one.partition(":repository/")[2] for one in pulled} == {
        "lake/docker.io/apicurio/apicurio-registry",
        "lake/public.ecr.aws/aws-cli/aws-cli",
        "lake/public.ecr.aws/docker/library/python",
    }
    assert "BatchGetImage" not in allowed(template, "PreparationTaskRole", "ecr")


def test_the_sizes_of_the_environment(hosted: Synthesized) -> None:
    assert hosted.only("AWS::ECS::Service")["DesiredCount"] == 2
    assert hosted.only("AWS::KafkaConnect::Connector")["Capacity"]["ProvisionedCapacity"]["McuCount"] == 2


# --- What is watched, and what it costs.


def test_alarms_count_the_tasks(managed: Synthesized) -> None:
    alarms = {one["MetricName"]: one for _, one in managed.resources("AWS::CloudWatch::Alarm") if "MetricName" in one}
    (connector,) = alarms["RunningTaskCount"]["Dimensions"]
    assert connector == {"Name": "ConnectorName", "Value": "lake-dev-source_postgres_moma"}
    assert {alarms[name]["TreatMissingData"] for name in ("RunningTaskCount", "HealthyHostCount")} == {"breaching"}


def test_failures_are_counted_in_the_logs(managed: Synthesized) -> None:
    groups = [one["LogGroupName"] for _, one in managed.resources("AWS::Logs::LogGroup") if "LogGroupName" in one]
    own = {"lake-dev-kafka-connect", "lake-dev-apicurio-registry", "lake-dev-source-database"}
    assert own <= set(groups)
    counted = {one["FilterPattern"] for _, one in managed.resources("AWS::Logs::MetricFilter")}
    assert len(counted) == 2


def test_the_estimate_counts_what_is_made(folder: Path, managed: Synthesized) -> None:
    found = {one.what: one for one in estimate(load_aws_environment(folder, "dev"), load_prices())}
    assert "EKS cluster" not in found and found["unit of MSK Connect"].month == pytest.approx(80.3)
    for what, kind in {"KMS key": "AWS::KMS::Key", "secret": "AWS::SecretsManager::Secret"}.items():
        assert found[what].count == len(managed.resources(kind))
    read = [
        len([1 for m in one["Metrics"] if "MetricStat" in m]) if "Metrics" in one else 1
        for _, one in managed.resources("AWS::CloudWatch::Alarm")
    ]
    assert found["metric with an alarm"].count == sum(read)


def test_the_whole_template_is_small(managed: Synthesized) -> None:
    size = len(json.dumps(managed.templates["connect"]))
    assert size < 200_000
    assert (
        len(
            base64.b64decode(
                managed.only("AWS::KafkaConnect::Connector")["ConnectorConfiguration"]["driver.sslfactoryarg"]
            )
        )
        > 1000
    )
