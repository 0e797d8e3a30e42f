"""lake connectors on AWS: the requests, the pod with the deployed values, and the answers."""

import pytest

from lake.deployments.connectors import Difference
from tests.emulated_account.asked import MOMA, PASSWORD, Asked
from tests.emulated_account.operated import Operated

pytestmark = [pytest.mark.account, pytest.mark.operations]


@pytest.fixture
def asked(operated: Operated) -> Asked:
    return operated.asked


def test_a_connector_that_is_not_there_lacks_all_that_was_deployed(asked: Asked) -> None:
    assert {one.connector for one in asked.missing} == {MOMA}
    assert {one.running for one in asked.missing} == {None}
    defined = {one.key: one.defined for one in asked.missing}
    assert defined["slot.name"] == "lake_moma"
    assert defined["database.password"] == "${secrets:database:password}"


def test_it_is_put_with_the_very_settings_that_the_hook_would_put(asked: Asked) -> None:
    assert asked.applied["lake.owner"] == "lake/kafka-connect"
    assert {one.key: one.defined for one in asked.missing} == asked.applied
    assert asked.same == []


def test_drift_is_shown_and_no_secret(asked: Asked) -> None:
    poll = asked.applied["poll.interval.ms"]
    assert Difference(MOMA, "poll.interval.ms", "1", poll) in asked.differing
    assert {one.key for one in asked.differing} == {"poll.interval.ms", "database.password"}
    assert PASSWORD not in str(asked.differing)


def test_it_is_paused_and_goes_on(asked: Asked) -> None:
    assert asked.states == ["PAUSED", "RUNNING"]
    assert asked.running[MOMA]["tasks"] == [{"id": 0, "state": "RUNNING"}]


def test_what_is_not_deployed_is_refused_with_what_to_do(asked: Asked) -> None:
    assert "no connector 'source_postgres_shop' is deployed" in asked.unknown
    assert "npx cdk deploy" in asked.unknown


def test_what_connect_says_is_told(asked: Asked) -> None:
    assert "400 Connector config is invalid" in asked.wrong


def test_nobody_answers(asked: Asked) -> None:
    assert "no answer within" in asked.alone


def test_neither_requests_nor_answers_are_left(asked: Asked) -> None:
    assert asked.left == []
