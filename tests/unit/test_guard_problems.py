"""A problem that lasts fills no log."""

import logging

import pytest

from lake.guardian.problems import Problems


def test_a_problem_is_said_when_it_begins_or_changes(caplog: pytest.LogCaptureFixture) -> None:
    problems = Problems()
    with caplog.at_level(logging.WARNING, "guardian"):
        for problem in ("no database shop", "no database shop", "no answer", "", "no answer"):
            problems.tell("shop", problem)
        problems.tell("films", "no answer")
    assert caplog.messages == ["shop: no database shop", "shop: no answer", "shop: no answer", "films: no answer"]
