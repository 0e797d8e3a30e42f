"""`lake connectors` where MSK Connect runs the connectors: states, restarts, and what only a deployment changes."""

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from lake.aws.environment import AwsEnvironment
from lake.clients.connect import runs
from lake.config.errors import BadInput, LakeError
from lake.config.report import silent
from lake.deployments import account as polling
from lake.deployments.connectors import Ask
from lake.deployments.managed_connectors import managed_connectors

NAME = "lake-dev-source_postgres_moma"
MOMA = "source_postgres_moma"


class Aws:
    """MSK Connect with one connector, and the metrics of its tasks."""

    region = "eu-central-1"

    def __init__(self, state: str = "RUNNING", running: int = 1, failed: int = 0, ends: str = "COMPLETE") -> None:
        self.connectors = [{"connectorName": name, "connectorArn": f"arn:{name}"} for name in (f"{NAME}_2", NAME)]
        self._state, self._ends = state, ends
        self._counts = {"RunningTaskCount": running, "ErroredTaskCount": failed}
        self.told: list[tuple[str, str]] = []

    def client(self, service: str) -> "Aws":
        return self

    def pages(self, service: str, method: str, key: str, **filters: str) -> list[Any]:
        assert (service, method, key) == ("kafkaconnect", "list_connectors", "connectors")
        return [one for one in self.connectors if one["connectorName"].startswith(filters["connectorNamePrefix"])]

    def describe_connector(self, connectorArn: str) -> dict[str, Any]:
        assert connectorArn == f"arn:{NAME}"
        why = {"stateDescription": {"code": "x", "message": "no route"}} if self._state == "FAILED" else {}
        return {"connectorState": self._state, **why}

    def get_metric_statistics(self, **wanted: Any) -> dict[str, Any]:
        assert wanted["Dimensions"] == [{"Name": "ConnectorName", "Value": NAME}]
        old = {"Timestamp": datetime(2026, 1, 1, tzinfo=UTC), "Maximum": 9.0}
        new = {"Timestamp": datetime(2026, 1, 2, tzinfo=UTC), "Maximum": float(self._counts[wanted["MetricName"]])}
        return {"Datapoints": [new, old]}

    def __getattr__(self, name: str) -> Any:
        verb = name.removesuffix("_connector")
        if verb not in ("restart", "pause", "resume"):
            raise AttributeError(name)

        def tell(connectorArn: str) -> dict[str, str]:
            self.told.append((verb, connectorArn))
            self._states = iter([f"{verb.upper()}_IN_PROGRESS", f"{verb.upper()}_{self._ends}"])
            return {"connectorOperationArn": "arn:operation"}

        return tell

    def describe_connector_operation(self, connectorOperationArn: str) -> dict[str, str]:
        return {"connectorOperationState": next(self._states)}


def ask(aws: Aws, monkeypatch: pytest.MonkeyPatch) -> Ask:
    monkeypatch.setattr(polling, "POLL_S", 0.0)
    content = {"name": "dev", "region": "eu-central-1", "keep_data": False, "operations": {"budget_usd": 1}}
    environment = AwsEnvironment.model_validate({**content, "connect": {"kind": "msk_connect"}})
    database = SimpleNamespace(connector=MOMA)
    return managed_connectors(aws, environment, [database], silent)  # type: ignore[arg-type, list-item]


def test_a_connector_with_its_task_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    found = ask(Aws(), monkeypatch)("status")
    assert found == {MOMA: {"connector": {"state": "RUNNING"}, "tasks": [{"id": 0, "state": "RUNNING"}]}}
    assert runs(found[MOMA])


@pytest.mark.parametrize(("running", "failed"), [(0, 0), (0, 1)])
def test_a_connector_without_a_running_task_does_not(
    running: int, failed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not runs(ask(Aws(running=running, failed=failed), monkeypatch)("status")[MOMA])


def test_a_failed_connector_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    found = ask(Aws("FAILED", running=0), monkeypatch)("status")
    assert found[MOMA]["connector"] == {"state": "FAILED", "trace": "no route"}


def test_a_connector_that_is_not_deployed_has_no_status(monkeypatch: pytest.MonkeyPatch) -> None:
    aws = Aws()
    aws.connectors = []
    assert ask(aws, monkeypatch)("status") == {MOMA: {}}


@pytest.mark.parametrize("verb", ["restart", "pause", "resume"])
def test_an_operation_is_waited_for(verb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    aws = Aws()
    assert ask(aws, monkeypatch)(verb) == {MOMA: {}}
    assert aws.told == [(verb, f"arn:{NAME}")]


def test_an_operation_that_fails_says_what_now(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(LakeError, match=r"restart of source_postgres_moma failed.*lake logs kafka-connect"):
        ask(Aws(ends="FAILED"), monkeypatch)("restart")


def test_nothing_is_restarted_that_is_not_deployed(monkeypatch: pytest.MonkeyPatch) -> None:
    aws = Aws()
    aws.connectors = []
    with pytest.raises(BadInput, match=r"no connector 'source_postgres_moma' is deployed.*npx cdk deploy"):
        ask(aws, monkeypatch)("restart")
    assert aws.told == []


@pytest.mark.parametrize("verb", ["settings", "apply"])
def test_settings_come_with_a_deployment(verb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadInput, match=r"from a deployment.*key connect\.kind.*npx cdk diff -c env=dev"):
        ask(Aws(), monkeypatch)(verb)
