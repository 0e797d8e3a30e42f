"""Kafka Connect of this machine: its connectors, their states and their offsets."""

import time
from collections.abc import Mapping
from typing import Any

from lake.clients import reconcile
from lake.clients.reconcile import NOT_FOUND, BadDeclaration, Declared, Refused, Settings, root_cause
from lake.config.environment import Environment
from lake.config.errors import BadInput, LakeError

REBALANCE_LIMIT_S = 60.0
BAD_REQUEST = 400  # offsets of a connector with tasks cannot be changed


class Connect(reconcile.Connect):
    """Raises BadInput when the worker does not answer, LakeError when it refuses."""

    try_again = frozenset({409})  # the worker is rebalancing: the documentation says to repeat the call
    seconds_between = 0.5
    seconds_per_call = 30.0  # validation opens a connection to the source

    def __init__(self, home: Environment) -> None:
        super().__init__(home.connect, REBALANCE_LIMIT_S, lambda: home.connect_login)

    def deadline(self) -> float:
        return time.monotonic() + REBALANCE_LIMIT_S

    def call(self, method: str, path: str, settings: Settings | None = None, unless: int = 0) -> Any:
        try:
            return super().call(method, path, settings, unless)
        except Refused as refusal:
            if refusal.status:
                raise LakeError(f"Connect refused: {refusal}", self.url, "see: lake logs connect") from None
            now = "run: lake up (details: lake logs connect)"
            raise BadInput("Kafka Connect does not answer", self.url, now) from None

    def config(self, name: str) -> Settings | None:
        """The settings of the connector, None if there is none of that name."""
        found: Settings | None = self.call("GET", f"/connectors/{name}/config", unless=NOT_FOUND)
        return found

    def offset(self, name: str) -> dict[str, Any] | None:
        """Debezium's offset of the last acknowledged record: {} before the first, None without a connector.

        Connect commits a source offset once Kafka has the record and all before it.
        """
        found = self.call("GET", f"/connectors/{name}/offsets", unless=NOT_FOUND)
        if found is None:
            return None
        offsets: list[dict[str, Any]] = [one["offset"] for one in found["offsets"]]
        return offsets[0] if offsets else {}

    def snapshotting(self, name: str) -> bool:
        """True while Kafka does not have all rows of the connector's first snapshot; False without a connector.

        The offset carries "snapshot" until the first change after the snapshot.
        """
        offset = self.offset(name)
        if offset is None:
            return False
        return not offset or bool(offset.get("snapshot") and not offset.get("snapshot_completed"))

    def forget(self, name: str) -> bool:
        """Deletes the offsets of a stopped connector, which then starts from the beginning. False while a task runs."""
        return self.call("DELETE", f"/connectors/{name}/offsets", unless=BAD_REQUEST) is not None


def validate(connect: Connect, wanted: Declared) -> None:
    """BadInput with all mistakes that Connect finds in the settings of these connectors."""
    try:
        reconcile.check(connect, wanted)
    except BadDeclaration as found:
        what = f"Connect refuses the settings: {'; '.join(found.problems)}"
        raise BadInput(what, connect.url, "correct them; nothing was changed") from None


def states(status: Mapping[str, Any]) -> list[str]:
    """The states of a connector and of its tasks, from Connect.status; [] if there is no connector."""
    return [str(part["state"]) for part in [status["connector"], *status["tasks"]]] if status else []


def runs(status: Mapping[str, Any]) -> bool:
    """True if the connector and all tasks run. A connector without a task does nothing."""
    found = states(status)
    return len(found) > 1 and set(found) == {"RUNNING"}


def failure(status: Mapping[str, Any]) -> str:
    """Why the connector or its first failed task failed; "" if none did."""
    parts = [status["connector"], *status["tasks"]] if status else []
    return next((root_cause(part.get("trace", "no reason given")) for part in parts if part["state"] == "FAILED"), "")
