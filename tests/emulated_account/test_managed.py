"""A lake on MSK Connect: plug-in, connectors, registry and preparation are deployed, changed, and leave nothing."""

import pytest

from tests.emulated_account.managed import Managed
from tests.emulated_account.test_one import PARTS

pytestmark = [pytest.mark.account, pytest.mark.operations]
CONNECTOR = "lake-managed-source_postgres_moma"


def test_it_is_deployed(managed: Managed) -> None:
    assert managed.stacks == {f"lake-managed-{part}": "CREATE_COMPLETE" for part in PARTS}
    assert managed.same.code == 0, managed.same.text


def test_the_connector_reaches_the_brokers_by_iam_and_has_no_password(managed: Managed) -> None:
    (connector,) = managed.connectors.values()
    assert connector["connectorName"] == CONNECTOR
    assert connector["kafkaClusterClientAuthentication"] == {"authenticationType": "IAM"}
    assert connector["kafkaCluster"]["apacheKafkaCluster"]["bootstrapServers"].endswith(":9098")
    assert connector["connectorConfiguration"]["database.password"] == "${secrets:database:password}"


def test_the_source_is_prepared_before(managed: Managed) -> None:
    assert len(managed.tasks) == 1 and "Preparation" in managed.tasks[0]


def test_the_command_line_restarts_it(managed: Managed) -> None:
    assert set(managed.restarted) == {"source_postgres_moma"}


def test_another_size_is_a_change_of_the_same_connector(managed: Managed) -> None:
    assert managed.sizes == {
        managed.connectors[CONNECTOR]["arn"]: {"provisionedCapacity": {"mcuCount": 2, "workerCount": 1}}
    }


def test_a_second_connector_of_its_name_is_refused(managed: Managed) -> None:
    assert "already exists" in managed.refused


def test_a_teardown_leaves_nothing(managed: Managed) -> None:
    assert managed.left == []
    assert {one for one in managed.remains if not one.startswith("logs/")} == set()
