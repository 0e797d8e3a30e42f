"""What the guardian does by itself for tables that lost changes."""

import signal
from pathlib import Path
from typing import Any

import pytest

from lake.config.environment import load_environment
from lake.guardian import repairs
from lake.guardian.repairs import GREATEST_BYTES, Repairs
from lake.sources.drift import Drift, gap, loss
from lake.sources.postgres import facts
from lake.state import dropped
from tests.unit.test_guard_rules import DATABASE

REPAIR = DATABASE  # the default
TELL = DATABASE.model_copy(update={"on_drift": "tell"})
LOST = loss(DATABASE, "public.a", "was emptied")
OTHER = Drift("shop", "", "another connector", "delete it")
TOLD = Drift("shop", "public.a", "differs from the definition", "lake apply")


class Command:
    """A command that runs until it is said to have ended."""

    ended: int | None = None

    def poll(self) -> int | None:
        return self.ended

    def send_signal(self, number: int) -> None:
        assert number == signal.SIGINT
        self.ended = 130

    def wait(self, timeout: float) -> None:
        assert self.ended is not None


COMMANDS: list[Command] = []


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    found: list[list[str]] = []

    def start(command: list[str], **more: Any) -> Command:
        found.append(command[3:])
        COMMANDS.append(Command())
        return COMMANDS[-1]

    monkeypatch.setattr(repairs.subprocess, "Popen", start)
    monkeypatch.setattr(facts, "size", lambda environment, database, tables: GREATEST_BYTES)
    return found


@pytest.mark.parametrize(
    ("database", "drifts", "expected"),
    [
        (REPAIR, [LOST, OTHER], [["resnapshot", "shop.public.a"]]),
        (REPAIR, [LOST, TOLD], []),  # until lake apply it would be lost again
        (TELL, [LOST], []),
        (REPAIR, [TOLD], []),
        (REPAIR, [LOST, gap(DATABASE, "the slot is lost")], []),
    ],
)
def test_what_is_read_again(
    started: list[list[str]], database: Any, drifts: list[Drift], expected: list[list[str]]
) -> None:
    guardian = Repairs(load_environment())
    guardian.attend(database, drifts)
    guardian.attend(database, drifts)  # one command at a time
    assert started == expected


def test_a_slot_that_was_dropped_by_consent_is_recovered(
    started: list[list[str]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("LAKE_DATA_DIR", str(tmp_path))
    home = load_environment()
    dropped.note(home, "shop")
    Repairs(home).attend(TELL, [gap(DATABASE, "there is no slot")])
    assert started == [["recover", "shop"]]


def test_a_table_that_loses_changes_on_is_not_read_over_and_over(started: list[list[str]]) -> None:
    Repairs(load_environment()).attend(REPAIR, [LOST], {"public.a"})
    assert started == []


def test_large_tables_are_left_to_people(started: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facts, "size", lambda environment, database, tables: GREATEST_BYTES + 1)
    Repairs(load_environment()).attend(REPAIR, [LOST])
    assert started == []


def test_a_repair_that_failed_is_tried_again_later(started: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    guardian, now = Repairs(load_environment()), [1000.0]
    monkeypatch.setattr(repairs.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(Command, "ended", 1)
    for seconds, tries in [(0, 1), (59, 1), (2, 2), (61, 2), (60, 3)]:
        now[0] += seconds
        guardian.attend(REPAIR, [LOST])
        assert len(started) == tries


STATES = {"shop_mor.a": {"state": "stopped"}}


def test_a_table_that_stopped_is_not_read_again(started: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repairs.stream_status, "reported", lambda home: STATES)
    Repairs(load_environment()).attend(REPAIR, [LOST])
    assert started == []


@pytest.mark.parametrize(("known", "states"), [([REPAIR], STATES), ([], {})], ids=["it stopped", "it has left"])
def test_a_repair_that_cannot_end_gives_way_to_others(
    started: list[list[str]], monkeypatch: pytest.MonkeyPatch, known: list[Any], states: dict[str, Any]
) -> None:
    """A transaction of the source would stay open for an hour."""
    guardian, now = Repairs(load_environment()), [1000.0]
    monkeypatch.setattr(repairs.time, "monotonic", lambda: now[0])
    guardian.attend(REPAIR, [LOST])
    guardian.look_after([REPAIR])
    monkeypatch.setattr(repairs.stream_status, "reported", lambda home: states)
    for seconds, ended in [(0, None), (59, None), (1, 130)]:
        now[0] += seconds
        guardian.look_after(known)
        assert COMMANDS[-1].ended == ended
