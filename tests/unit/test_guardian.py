"""The guardian while Kafka Connect is away, and while a command is at work."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lake.config.environment import load_environment
from lake.config.errors import BadInput
from lake.guardian import watch
from lake.guardian.inspect import Inspection
from lake.guardian.lag import LagTracker
from lake.guardian.progress import CaptureProgress
from lake.guardian.watch import Guardian
from lake.sources.drift import Drift
from lake.sources.postgres import facts, limit
from lake.sources.postgres.facts import Slot
from lake.state import baseline
from lake.state.baseline import Baseline
from tests.unit.test_guard_rules import DATABASE, SERVER, SLOT

SPENT = Slot("pgoutput", "shop", "extended", 500, 10**12, True, "lake_capture")
MUCH = replace(SPENT, retained_bytes=5 * 2**30)  # between the bounds of environments/local.yaml
GAP = Drift("shop", "", "replication slot lake_shop does not exist", "lake recover shop", lost=True)


class FakeConnect:
    """Answers for one connector that runs, or not at all."""

    def __init__(self) -> None:
        self.away = False
        self.reads = False
        self.deleted = False
        self.told: list[str] = []

    def config(self, name: str) -> dict[str, str] | None:
        if self.away:
            raise BadInput("Kafka Connect does not answer", "here", "start it")
        return None if self.deleted else {"name": name}

    def status(self, name: str) -> dict[str, Any]:
        return {"connector": {"state": "RUNNING"}, "tasks": [{"state": "RUNNING"}]}

    def snapshotting(self, name: str) -> bool:
        return self.reads

    def tell(self, name: str, verb: str) -> None:
        self.told.append(verb)


@pytest.fixture
def connect(monkeypatch: pytest.MonkeyPatch) -> FakeConnect:
    made = FakeConnect()
    monkeypatch.setattr(watch, "Connect", lambda url: made)
    monkeypatch.setattr(watch, "pending", lambda home, database: [])
    monkeypatch.setattr(watch, "is_locked", lambda path: False)
    return made


@pytest.fixture
def enforced(monkeypatch: pytest.MonkeyPatch) -> list[Slot | None]:
    """The slots for which the limit was enforced."""
    found: list[Slot | None] = []
    monkeypatch.setattr(limit, "enforce", lambda environment, database, slot: found.append(slot))
    monkeypatch.setattr(facts, "read_capture", lambda environment, database: SPENT)
    return found


def sees(monkeypatch: pytest.MonkeyPatch, slot: Slot, *drifts: Drift) -> Guardian:
    found = Inspection(DATABASE, Baseline(SERVER, {}), Baseline(SERVER, {}), slot, 500, list(drifts))
    monkeypatch.setattr(watch, "inspect", lambda home, database: found)
    return Guardian(load_environment())


def test_without_connect_the_last_word_stays_and_the_limit_holds(
    connect: FakeConnect, enforced: list[Slot | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    guardian = sees(monkeypatch, SLOT, GAP)
    assert (guardian.attend(DATABASE), guardian.attend(DATABASE)) == ([], [GAP])
    connect.away = True
    assert guardian.attend(DATABASE) == [GAP]
    assert enforced == [SLOT, SLOT, SPENT]


def test_beside_a_command_only_the_limit_stops_a_connector(
    connect: FakeConnect, enforced: list[Slot | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "is_locked", lambda path: True)
    behind_a_gap = sees(monkeypatch, SLOT, GAP)
    assert [behind_a_gap.attend(DATABASE), behind_a_gap.attend(DATABASE), connect.told] == [[], [GAP], []]
    monkeypatch.setattr(limit, "STILL_S", 0.0)
    sees(monkeypatch, MUCH).attend(DATABASE)
    assert connect.told == [], "what drains the slot is not stopped by the guardian"
    sees(monkeypatch, SPENT).attend(DATABASE)
    assert (connect.told, enforced) == (["stop"], [SLOT, SLOT, MUCH, SPENT])


@pytest.mark.parametrize(("still_s", "told"), [(limit.STILL_S - 1, []), (limit.STILL_S, ["stop"])])
def test_between_the_bounds_only_a_connector_that_comes_no_further_is_stopped(
    connect: FakeConnect,
    enforced: list[Slot | None],
    monkeypatch: pytest.MonkeyPatch,
    still_s: float,
    told: list[str],
) -> None:
    monkeypatch.setattr(CaptureProgress, "still_s", lambda *_: still_s)
    sees(monkeypatch, MUCH).attend(DATABASE)
    assert connect.told == told


def test_a_source_that_is_behind_is_told_but_for_a_first_snapshot(
    connect: FakeConnect, enforced: list[Slot | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    guardian = sees(monkeypatch, SLOT)
    monkeypatch.setattr(LagTracker, "age_s", lambda self, captured, position: 40.0)
    assert ["does not have changes" in one.what for one in guardian.attend(DATABASE)] == [True]
    connect.reads = True
    assert guardian.attend(DATABASE) == []


@pytest.mark.parametrize(("applied", "told"), [([], 0), ([{"database": "shop", "schema": "public", "table": "a"}], 1)])
def test_a_connector_that_was_deleted_is_told_and_its_slot_kept_within_the_limit(
    connect: FakeConnect,
    enforced: list[Slot | None],
    monkeypatch: pytest.MonkeyPatch,
    applied: list[dict[str, str]],
    told: int,
) -> None:
    forgotten: list[str] = []
    monkeypatch.setattr(watch.baseline, "forget", lambda home, name: forgotten.append(name))
    monkeypatch.setattr(watch, "read_pipeline", lambda environment: {"tables": applied})
    connect.deleted = True
    found = sees(monkeypatch, SLOT).attend(DATABASE)
    assert ["no connector source_postgres_shop" in drift.what for drift in found] == [True] * told
    assert (enforced, forgotten) == (([SPENT], []) if told else ([], ["shop"]))


@pytest.mark.parametrize(("applied", "kept"), [([{"database": "shop"}], ["shop"]), ([], [])])
def test_a_definition_that_is_away_is_forgotten_once_nothing_of_it_is_applied(
    connect: FakeConnect,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    applied: list[dict[str, str]],
    kept: list[str],
) -> None:
    monkeypatch.setenv("LAKE_DATA_DIR", str(tmp_path))
    home = load_environment()
    baseline.save(home, DATABASE, Baseline(SERVER, {}))
    monkeypatch.setattr(watch, "read_pipeline", lambda environment: {"tables": applied})
    Guardian(home).forget_departed(defined=set())
    assert baseline.databases(home) == kept


def test_a_definition_that_cannot_be_read_is_said_once(
    connect: FakeConnect, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    guardian = Guardian(load_environment())
    problems = iter(["no table", "no table", "no key"])

    def unreadable(*_: Any, **__: Any) -> Any:
        problem = next(problems, None)
        if problem is None:
            guardian.stopping.set()
        raise BadInput(problem or "no key", "shop.yaml", "write one")

    monkeypatch.setattr(watch, "load_databases", unreadable)
    monkeypatch.setattr(watch, "INSPECT_EVERY_S", 0.0)
    guardian.run()
    said = ["no table; shop.yaml; write one", "no key; shop.yaml; write one"]
    assert caplog.messages == [f"the definition cannot be read: {one}" for one in said]
