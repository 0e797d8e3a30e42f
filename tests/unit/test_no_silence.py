"""No command is silent for more than five seconds, also where no terminal is."""

import threading

import pytest

from lake.cli import options
from lake.config.errors import LakeError
from lake.config.waiting import wait_until

SAID_WITHIN_S = 5.0


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(options, "SILENT_S", 0.02)
    monkeypatch.setattr(options, "LOOK_EVERY_S", 0.005)


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    lines: list[str] = []
    monkeypatch.setattr(options, "say", lines.append)
    return lines


def await_lines(said: list[str], number: int) -> None:
    wait_until(
        lambda: len(said) >= number, SAID_WITHIN_S, LakeError("it is silent", "options.progress", "see there"), 0.01
    )


def test_what_goes_on_is_said_again(hasty: None, said: list[str]) -> None:
    with options.progress("starting Spark") as report:
        await_lines(said, 1)
        report("waiting: slot lake_shop confirmed 0/1 of 0/2")
        await_lines(said, len(said) + 2)
    assert said[0] == "starting Spark (0 s)"
    assert {
        "waiting: slot lake_shop confirmed 0/1 of 0/2",
        "waiting: slot lake_shop confirmed 0/1 of 0/2 (0 s)",
    } <= set(said)


def test_a_line_is_said_once_when_it_is_reported_again_and_again(said: list[str]) -> None:
    with options.progress("starting Spark") as report:
        for _ in range(3):
            report("waiting")
    assert said == ["waiting"]


def test_nothing_is_said_after_the_end() -> None:
    before = threading.active_count()
    with options.progress("starting Spark"):
        assert threading.active_count() == before + 1
    assert threading.active_count() == before


def test_a_silence_is_shorter_than_five_seconds() -> None:
    assert options.SILENT_S + options.LOOK_EVERY_S < SAID_WITHIN_S
