"""Which failures of a connector are a place in the log that no start leads past."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import pytest

from lake.cli import options, parity_output
from lake.config.definition import Database
from lake.config.environment import Environment
from lake.config.errors import BadInput, LakeError
from lake.guardian.inspect import Inspection
from lake.resync import broken_place, recover
from lake.resync.broken_place import BrokenPlace, find

SHOP = Database.model_validate({"database": "shop", "tables": {"public.account": {"key": ["id"]}}})
HOME = cast("Environment", SimpleNamespace())
WHY = (
    "org.apache.kafka.connect.errors.SchemaBuilderException: Cannot create field because of field name duplication a_b"
)
STREAMED = f"ConnectException: An exception occurred in the change event producer.\n\tat x\nCaused by: {WHY}"
CONVERTED = f"Tolerance exceeded in error handler\n\tat TransformationChain.apply\nCaused by: {WHY}"
PASSWORD = 'FATAL: password authentication failed for user "lake_capture"'
STARTED = f"Couldn't obtain encoding for database shop\n\tat PostgresConnectorTask.start\nCaused by: {PASSWORD}"


class Worker:
    """A connector whose task is in these states, one after the other; the last one stays."""

    def __init__(self, states: list[str], trace: str) -> None:
        self.left, self.trace, self.told = states, trace, list[str]()

    def status(self, name: str) -> dict[str, Any]:
        state = self.left.pop(0) if len(self.left) > 1 else self.left[0]
        task = {"state": state, **({"trace": self.trace} if state == "FAILED" else {})}
        return {"connector": {"state": "RUNNING"}, "tasks": [task]}

    def tell(self, name: str, verb: str) -> None:
        self.told.append(verb)

    def offset(self, name: str) -> dict[str, int]:
        return {"lsn": 0x1_0000_00AB}


@pytest.fixture
def captured(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A source whose log ends at once, and no patience."""
    from lake.sources.postgres import capture

    monkeypatch.setattr(capture, "position", lambda *_: 1)
    monkeypatch.setattr(capture, "is_captured", lambda *_: True)
    monkeypatch.setattr(broken_place, "STARTED_WITHIN_S", 0.3)
    yield


def found(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> BrokenPlace | None:
    monkeypatch.setattr(broken_place, "Connect", lambda home: worker)
    return find(HOME, SHOP, lambda line: None)


@pytest.mark.parametrize("trace", [STREAMED, CONVERTED], ids=["while it streams", "while it converts"])
@pytest.mark.parametrize("states", [["FAILED"], ["FAILED", "RUNNING", "FAILED"]], ids=["at once", "after a while"])
def test_what_fails_again_at_a_change(
    captured: None, trace: str, states: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = Worker(list(states), trace)
    assert found(worker, monkeypatch) == BrokenPlace(WHY, "1/AB")
    assert worker.told == ["restart"]


def test_what_was_started_by_others_fails_again(captured: None, monkeypatch: pytest.MonkeyPatch) -> None:
    worker = Worker(["RUNNING", "RUNNING", "FAILED"], STREAMED)
    assert found(worker, monkeypatch) == BrokenPlace(WHY, "1/AB")
    assert worker.told == []


def test_what_goes_on_after_a_start_needs_nothing_else(captured: None, monkeypatch: pytest.MonkeyPatch) -> None:
    assert found(Worker(["FAILED", "FAILED", "RUNNING"], STREAMED), monkeypatch) is None


def test_a_connector_that_runs_is_not_started(captured: None, monkeypatch: pytest.MonkeyPatch) -> None:
    worker = Worker(["RUNNING"], "")
    assert found(worker, monkeypatch) is None
    assert worker.told == []


def test_no_new_slot_helps_against_a_wrong_password(captured: None, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(LakeError, match="before any change: FATAL: password"):
        found(Worker(["FAILED"], STARTED), monkeypatch)


REFUSED = LakeError("the connector failed", "connector", "correct it")
INPUT = BadInput("the key differs", "shop.yaml", "correct it")


@pytest.mark.parametrize(
    ("error", "state", "goes_on"), [(REFUSED, "FAILED", True), (REFUSED, "RUNNING", False), (INPUT, "FAILED", False)]
)
def test_a_broken_connector_does_not_keep_recover_from_its_work(
    captured: None, error: LakeError, state: str, goes_on: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise error

    monkeypatch.setattr(recover, "apply_all", refuse)
    monkeypatch.setattr(recover, "Connect", lambda home: Worker([state], STREAMED))
    nothing: Any = None
    found = Inspection(SHOP, nothing, nothing, None, 0, [])
    monkeypatch.setattr(recover, "inspect", lambda *_: found)
    monkeypatch.setattr(broken_place, "Connect", lambda home: Worker([state], STARTED))
    with pytest.raises(LakeError, match="fails before any change" if goes_on else error.what):
        recover.recovered(HOME, SHOP, 1.0, lambda line: None)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"public.a": 1, "public.b": 70}, "public.a (1), public.b (70)"),
        ({}, "none"),
        (None, "they could not be counted"),
    ],
)
def test_what_was_passed_over_is_said(changes: Any, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    options.out.file = None  # type: ignore[assignment]
    place = {"reason": WHY, "start": "0/1", "end": "0/2", "changes": changes}
    proof = {"equal": True, "tables": {}, "seconds": 1}
    parity_output.show_resync({"equal": True, "passed": place, "verify": proof})
    said = capsys.readouterr().out
    assert f"passed over the log from 0/1 to 0/2: {WHY}" in said
    assert f"changes in it, by table: {told}; all tables were read again" in said
