"""Kafka Connect over its REST interface: connectors read, validated and put."""

from collections.abc import Mapping
from typing import Any

import httpx
from tenacity import RetryCallState, Retrying, retry_if_result, stop_after_delay, wait_fixed

from lake.clients.rest import trust
from lake.config.errors import BadInput, LakeError

TIMEOUT_S = 30.0  # validation opens a connection to the source
REBALANCE_LIMIT_S = 60.0
CONFLICT = 409  # the worker is rebalancing: asking again is the documented answer
NOT_FOUND = 404
BAD_REQUEST = 400  # offsets of a connector with tasks are not altered


class Connect:
    """Raises BadInput when the worker does not answer, LakeError when it refuses."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._client = httpx.Client(base_url=url, timeout=TIMEOUT_S, verify=trust(), trust_env=False)

    def config(self, name: str) -> dict[str, str] | None:
        """The settings of the connector, None when there is none of that name."""
        answer = self._ask("GET", f"/connectors/{name}/config")
        return None if answer.status_code == NOT_FOUND else self._json(answer, name)

    def configs(self) -> dict[str, dict[str, str]]:
        """The settings of all connectors, by name."""
        found = self._json(self._ask("GET", "/connectors?expand=info"), "list")
        return {name: one["info"]["config"] for name, one in found.items()}

    def status(self, name: str) -> dict[str, Any]:
        """{"connector": {"state": ...}, "tasks": [{"id": 0, "state": ..., "trace": ...}]}."""
        answer = self._ask("GET", f"/connectors/{name}/status")
        # A connector just put has no status until its worker has started it.
        return {} if answer.status_code == NOT_FOUND else self._json(answer, name)

    def offset(self, name: str) -> dict[str, Any] | None:
        """Up to where Kafka has for sure what the connector read: Debezium's offset, {} before the first record.

        Connect commits a source offset once Kafka has the record and all before it. None when there is no such
        connector.
        """
        answer = self._ask("GET", f"/connectors/{name}/offsets")
        if answer.status_code == NOT_FOUND:
            return None
        offsets: list[dict[str, Any]] = [one["offset"] for one in self._json(answer, name)["offsets"]]
        return offsets[0] if offsets else {}

    def snapshotting(self, name: str) -> bool:
        """Whether Kafka still lacks rows of the connector's first snapshot; False when there is no such connector.

        The offset carries "snapshot" until the first change after the snapshot.
        """
        offset = self.offset(name)
        if offset is None:
            return False
        return not offset or bool(offset.get("snapshot") and not offset.get("snapshot_completed"))

    def validate(self, config: dict[str, str]) -> None:
        """BadInput with the first mistake that the connector class finds in the settings."""
        plugin = config["connector.class"].rpartition(".")[2]
        answer = self._ask("PUT", f"/connector-plugins/{plugin}/config/validate", config)
        if answer.status_code == NOT_FOUND:
            raise BadInput(f"Connect has no plug-in {plugin}", self.url, "run: make setup, then lake restart connect")
        found = [
            f"{entry['value']['name']}: {error}"
            for entry in self._json(answer, config["name"])["configs"]
            for error in entry["value"]["errors"]
        ]
        if found:
            where = f"connector {config['name']}"
            raise BadInput(
                f"Connect refuses the settings: {found[0]}",
                where,
                "correct what it names; nothing was changed",
            )

    def put(self, config: dict[str, str]) -> None:
        """Creates the connector or replaces its settings; twice is the same as once."""
        self._json(self._ask("PUT", f"/connectors/{config['name']}/config", config), config["name"])

    def forget(self, name: str) -> bool:
        """Deletes the offsets of a stopped connector: it begins anew. False while a task of it still runs."""
        answer = self._ask("DELETE", f"/connectors/{name}/offsets")
        if answer.status_code == BAD_REQUEST:
            return False
        self._json(answer, name)
        return True

    def tell(self, name: str, verb: str) -> None:
        """restart (with all tasks), pause, stop (its tasks end) or resume."""
        method, more = ("POST", "?includeTasks=true") if verb == "restart" else ("PUT", "")
        answer = self._ask(method, f"/connectors/{name}/{verb}{more}")
        if not answer.is_success:
            self._json(answer, name)

    def _ask(self, method: str, path: str, body: dict[str, str] | None = None) -> httpx.Response:
        retrying = Retrying(
            retry=retry_if_result(lambda answer: answer.status_code == CONFLICT),
            stop=stop_after_delay(REBALANCE_LIMIT_S),
            wait=wait_fixed(0.5),
            retry_error_callback=_last_answer,
        )
        try:
            return retrying(self._client.request, method, path, json=body)
        except httpx.TransportError:
            raise BadInput(
                "Kafka Connect does not answer", self.url, "run: lake up (lake logs connect says more)"
            ) from None

    def _json(self, answer: httpx.Response, name: str) -> Any:
        if answer.is_success:
            return answer.json()
        raise LakeError(
            f"Connect answered {answer.status_code}: {_reason(answer)}",
            f"connector {name}",
            "see: lake logs connect",
        )


def states(status: Mapping[str, Any]) -> list[str]:
    """Of the connector and then its tasks, as Connect.status tells them; none where there is no connector."""
    return [str(part["state"]) for part in [status["connector"], *status["tasks"]]] if status else []


def runs(status: Mapping[str, Any]) -> bool:
    """A connector without a task does nothing."""
    found = states(status)
    return len(found) > 1 and set(found) == {"RUNNING"}


def failure(status: Mapping[str, Any]) -> str:
    """Why the first task that failed did so; "" when none has."""
    return next((cause(task["trace"]) for task in status.get("tasks", []) if task.get("trace")), "")


def cause(trace: str) -> str:
    """Why a task failed, in one line: the innermost cause, because the outer ones only say that something did."""
    causes = [line.removeprefix("Caused by: ") for line in trace.splitlines() if line.startswith("Caused by: ")]
    return causes[-1] if causes else trace.partition("\n")[0]


def _last_answer(state: RetryCallState) -> httpx.Response:
    assert state.outcome is not None  # only called after an attempt
    answer: httpx.Response = state.outcome.result()
    return answer


def _reason(answer: httpx.Response) -> str:
    try:
        return str(answer.json()["message"])
    except (ValueError, KeyError, TypeError):
        return answer.text[:200]
