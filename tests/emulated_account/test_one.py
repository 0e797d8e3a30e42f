"""One environment: deployed, looked at, changed, destroyed to nothing, and built again."""

import json

import pytest

from lake.config import versions
from tests.emulated_account.inventory import late, of_kind
from tests.emulated_account.story import HOME, One

pytestmark = pytest.mark.account

# Made again by EKS and RDS, which deliver their last lines after the stack is gone.
PARTS = ("catalog", "connect", "network", "operations", "processing", "source", "storage", "streaming")


def test_a_stack_that_fails_is_rolled_back_and_the_command_says_why(one: One) -> None:
    assert one.refused.code == 1
    assert "AlreadyExistsException" in one.refused.text
    assert one.refused_stacks == {"lake-dev-storage": "CREATE_COMPLETE", "lake-dev-catalog": "ROLLBACK_COMPLETE"}


def test_all_stacks_are_made(one: One) -> None:
    assert one.deployed.code == 0, one.deployed.text
    assert one.first.stacks == {f"lake-dev-{part}": "CREATE_COMPLETE" for part in PARTS}


def test_the_database_lets_its_changes_be_read(one: One) -> None:
    assert one.first.parameters["rds.logical_replication"] == "1"
    assert one.first.parameters["rds.force_ssl"] == "1"
    assert one.first.database["EngineVersion"] == versions.POSTGRESQL
    assert one.first.database["StorageEncrypted"] and not one.first.database["PubliclyAccessible"]


def test_the_secret_of_the_administrator_says_where_the_database_is(one: One) -> None:
    secret = one.first.secrets["lake_admin"]
    assert secret["host"] == one.first.database["Endpoint"]["Address"]
    assert (secret["port"], secret["engine"]) == (5432, "postgres")
    assert secret["password"] and "{{resolve" not in secret["password"]


def test_every_user_has_a_secret(one: One) -> None:
    assert set(one.first.secrets) == {"lake_admin", "lake_capture", "lake_verify", "registry", "connect", "operator"}


def test_kafka_takes_logins_by_iam_only(one: One) -> None:
    logins = one.first.kafka["Provisioned"]["ClientAuthentication"]
    assert logins["Sasl"] == {"Iam": {"Enabled": True}, "Scram": {"Enabled": False}}
    assert logins["Unauthenticated"] == {"Enabled": False}
    assert one.first.kafka["Provisioned"]["NumberOfBrokerNodes"] == 4


def test_kubernetes_is_in_auto_mode_and_private(one: One) -> None:
    cluster = one.first.kubernetes
    assert (cluster["version"], cluster["computeConfig"]["enabled"]) == (versions.KUBERNETES, True)
    assert cluster["resourcesVpcConfig"]["endpointPublicAccess"] is False


def test_emr_runs_the_job(one: One) -> None:
    names = {application["Name"] for application in one.first.emr["Applications"]}
    assert names == {"Spark", "Hadoop", "Hive", "Livy", "JupyterEnterpriseGateway"}
    assert one.first.emr["ReleaseLabel"] == versions.EMR
    assert one.first.scaling["ComputeLimits"]["MaximumCapacityUnits"] == 3
    (step,) = one.first.steps
    assert step["Name"] == "stream"


def test_the_step_knows_brokers_registry_and_buckets(one: One) -> None:
    arguments = one.first.steps[0]["Config"]["Args"]
    assert one.first.brokers in arguments
    assert [one for one in arguments if one.startswith("http://k8s-lake-") and one.endswith(":8080")]
    assert {one.first.buckets["silver"], one.first.buckets["bronze"]} <= set(arguments)


def test_the_catalog_has_a_database_per_table_type(one: One) -> None:
    assert one.first.glue == [
        *("moma_cow", "moma_cow_streamer", "moma_mor", "moma_mor_streamer", "moma_quarantine", "refined")
    ]


def test_the_workers_are_told_the_brokers(one: One) -> None:
    worker = one.first.releases["kafka-connect"].only("ConfigMap", "kafka-connect-worker")
    assert f"bootstrap.servers={one.first.brokers}\n" in "".join(worker["data"].values())
    assert one.first.brokers.endswith(f".kafka.{HOME}.amazonaws.com:9098")


def test_the_hook_carries_the_connector_with_its_addresses(one: One) -> None:
    connectors = one.first.releases["kafka-connect"].only("ConfigMap", "kafka-connect-connectors")
    ((_, text),) = connectors["data"].items()
    settings = json.loads(text)
    assert settings["database.hostname"] == one.first.database["Endpoint"]["Address"]
    assert settings["database.password"] == "${secrets:database:password}"
    registry = {value for key, value in settings.items() if key.endswith("registry.url")}
    assert registry == {"http://apicurio-registry.lake.svc:8080/apis/registry/v2"}


def test_the_registry_finds_its_database(one: One) -> None:
    registry = json.dumps(one.first.releases["apicurio-registry"].manifests)
    assert one.first.database["Endpoint"]["Address"] in registry


def test_the_preparation_of_the_source_goes_to_the_database(one: One) -> None:
    preparation = json.dumps(one.first.releases["source-database"].manifests)
    assert one.first.database["Endpoint"]["Address"] in preparation


def test_nothing_that_a_chart_installs_is_unresolved(one: One) -> None:
    text = json.dumps([release.manifests for release in one.first.releases.values()])
    assert "${Token" not in text and "Fn::" not in text and "{{resolve" not in text


def test_every_service_account_of_a_chart_has_its_role(one: One) -> None:
    """A pod whose account has no association would run without rights."""
    found = {(one["namespace"], one["serviceAccount"]) for one in one.first.associations}
    accounts = ("kafka-connect", "kafka-connect-requests", "apicurio-registry", "source-database")
    assert {("lake", account) for account in accounts} <= found


def test_a_second_look_finds_no_difference(one: One) -> None:
    assert one.same.code == 0, one.same.text
    assert one.same.text.count("There were no differences") == len(PARTS)


def test_a_change_shows_one_resource(one: One) -> None:
    (change,) = one.changes
    assert (change["Action"], change["ResourceType"]) == ("Modify", "Custom::AWSCDK-EKS-HelmChart")
    assert change["Replacement"] == "False"
    assert one.differs.code == 1
    assert one.differs.text.count("[~] ") - one.differs.text.count("─ [~]") == 1
    assert one.differs.text.count("There were no differences") == len(PARTS) - 1


def test_the_change_arrives_and_nothing_else_moves(one: One) -> None:
    assert one.changed.code == 0, one.changed.text
    sights = (one.first, one.second)
    before, after = (sight.releases["kafka-connect"].only("Deployment", "kafka-connect") for sight in sights)
    assert (before["spec"]["replicas"], after["spec"]["replicas"]) == (1, 2)
    expected = {**one.first.stacks, "lake-dev-connect": "UPDATE_COMPLETE"}
    assert one.second.stacks == expected
    assert one.second.kafka == one.first.kafka
    assert [step["Id"] for step in one.second.steps] == [step["Id"] for step in one.first.steps]


def test_destroy_leaves_the_bootstrap_and_what_aws_writes_after(one: One) -> None:
    """Buckets with objects in them are gone too. lake teardown deletes the log groups that are made again."""
    assert one.destroyed.code == 0, one.destroyed.text
    assert one.after - one.empty - late("dev") == set()
    assert of_kind(one.after, "cloudformation/stack") == ["CDKToolkit"]


def test_it_can_be_built_again(one: One) -> None:
    assert one.rebuilt.code == 0, one.rebuilt.text
    assert one.third and one.third.stacks == one.first.stacks
    assert one.third.kafka["ClusterArn"] != one.first.kafka["ClusterArn"]
