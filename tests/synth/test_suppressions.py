"""cdk-nag, AwsSolutions: nothing is found that was not accepted with a reason."""

import json
from typing import Any

from tests.synth.synthesis import Synthesized


def report(lake: Synthesized) -> dict[str, Any]:
    (found,) = json.loads((lake.folder / "validation-report.json").read_text())["pluginReports"]
    return dict(found)


def test_no_finding_is_left(lake: Synthesized) -> None:
    assert (report(lake)["conclusion"], report(lake)["violations"], lake.failure) == ("success", [], "")


def test_every_accepted_finding_has_its_reason(lake: Synthesized) -> None:
    accepted = report(lake)["suppressedViolations"]
    assert len(accepted) > 20
    assert [one["ruleName"] for one in accepted if not all(len(note) > 20 for note in reasons(one))] == []


def test_nothing_is_accepted_in_production_that_a_throw_away_lake_needs(prod: Synthesized) -> None:
    accepted = {one["ruleName"] for one in report(prod)["suppressedViolations"]}
    assert not accepted & {"AwsSolutions-RDS3", "AwsSolutions-RDS10"}


def reasons(found: dict[str, Any]) -> list[str]:
    """The reasons given, wherever the report keeps them."""
    text = json.dumps(found)
    return [part.split('"')[0] for part in text.split('"reason": "')[1:]] or [""]
