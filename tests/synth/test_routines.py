"""The ready steps of a lake and their schedules: what they run, who may add them, and what is refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from lake.config.errors import BadInput
from tests.synth.rights import statements, text
from tests.synth.synthesis import Synthesized, varied

FILMS = "data/pagila/films_by_rating.yaml"
PREFIX = "/lake/dev/steps/"
LIMIT = 8192  # characters of the largest parameter
NAME = 60  # longer than what AWS puts in place of any name in <>
SCHEDULE = {"verify": "rate(1 day)", "compact": "cron(0 1 * * ? *)", "refine-films_by_rating": "rate(12 hours)"}


@pytest.fixture(scope="module")
def timed(tmp_path_factory: pytest.TempPathFactory) -> Synthesized:
    """The development environment with a table for analysts, and with schedules."""
    changes = {"operations.refine": [FILMS], "operations.schedule": SCHEDULE}
    return varied(tmp_path_factory.mktemp("timed"), "dev", changes)


def ready(lake: Synthesized) -> dict[str, dict[str, Any]]:
    """The steps by the name of their routine."""
    parameters = [one for _, one in lake.resources("AWS::SSM::Parameter") if "Name" in one]
    found = {text(one["Name"]): text(one["Value"]) for one in parameters}
    return {name.removeprefix(PREFIX): json.loads(value) for name, value in found.items() if name.startswith(PREFIX)}


def arguments(step: dict[str, Any]) -> list[str]:
    return [str(one) for one in step["HadoopJarStep"]["Args"]]


def test_every_routine_and_every_job_has_a_step(dev: Synthesized) -> None:
    assert sorted(ready(dev)) == ["bulk-load", "compact", "start-stream", "stop-stream", "verify"]


def test_a_step_fails_alone(dev: Synthesized) -> None:
    assert {step["ActionOnFailure"] for step in ready(dev).values()} == {"CONTINUE"}


def test_a_step_has_the_name_by_which_lake_jobs_knows_it(dev: Synthesized) -> None:
    names = {routine: step["Name"] for routine, step in ready(dev).items()}
    assert (names["start-stream"], names["stop-stream"], names["verify"]) == ("stream", "stop stream", "verify")


def test_the_offered_start_is_the_deployed_one(dev: Synthesized) -> None:
    deployed = [text(one) for one in dev.only("AWS::EMR::Step")["HadoopJarStep"]["Args"]]
    assert arguments(ready(dev)["start-stream"]) == deployed


def test_verify_logs_in_as_the_user_that_verifies(dev: Synthesized) -> None:
    words = arguments(ready(dev)["verify"])
    assert words[words.index("--user") + 1] == "lake_verify"
    assert "--config" in words and words[words.index("--output") + 1].endswith("/state/routines/verify.json")


def test_a_table_for_analysts_is_a_routine(timed: Synthesized) -> None:
    words = arguments(ready(timed)["refine-films_by_rating"])
    assert words[words.index("--table") + 1] == "pagila.public.film"
    assert words[words.index("--partition") + 1] == "rating"
    assert words[words.index("--path") + 1].endswith("/refined")


def test_a_step_fits_into_its_parameter(timed: Synthesized) -> None:
    for routine, step in ready(timed).items():
        content = json.dumps(step)
        assert len(content) + NAME * content.count("<") < LIMIT, routine


def test_no_step_holds_a_password(timed: Synthesized) -> None:
    """Only the name of the secret, and of the variable that run_job.sh fills."""
    told = json.dumps(ready(timed)).lower()
    assert "{{resolve:secretsmanager" not in told and "password=" not in told


def test_nothing_is_scheduled_by_itself(lake: Synthesized) -> None:
    assert lake.resources("AWS::Scheduler::Schedule") == lake.resources("AWS::Scheduler::ScheduleGroup") == []


def test_a_schedule_adds_the_offered_step_to_the_cluster(timed: Synthesized) -> None:
    schedules = {one["Name"]: one for _, one in timed.resources("AWS::Scheduler::Schedule")}
    assert {name: one["ScheduleExpression"] for name, one in schedules.items()} == SCHEDULE
    for name, schedule in schedules.items():
        target = schedule["Target"]
        assert text(target["Arn"]) == "arn:<AWS::Partition>:scheduler:::aws-sdk:emr:addJobFlowSteps"
        wish = json.loads(text(target["Input"]))
        assert wish["Steps"] == [ready(timed)[name]]
        assert wish["JobFlowId"].startswith("<Cluster")
        assert (schedule["ScheduleExpressionTimezone"], schedule["FlexibleTimeWindow"]) == ("UTC", {"Mode": "OFF"})


def test_the_role_of_the_schedules_may_add_steps_to_one_cluster_alone(timed: Synthesized) -> None:
    (right,) = statements(timed.templates["processing"], "SchedulesRole")
    assert (right["Effect"], right["Action"]) == ("Allow", "elasticmapreduce:AddJobFlowSteps")
    arn = "arn:<AWS::Partition>:elasticmapreduce:<AWS::Region>:<AWS::AccountId>:cluster/<Cluster"
    assert text(right["Resource"]).startswith(arn)


def test_only_the_schedules_of_the_lake_may_take_the_role(timed: Synthesized) -> None:
    roles = dict(timed.resources("AWS::IAM::Role"))
    ((trust,),) = [
        one["AssumeRolePolicyDocument"]["Statement"] for id, one in roles.items() if id.startswith("SchedulesRole")
    ]
    assert trust["Principal"] == {"Service": "scheduler.amazonaws.com"}
    assert text(trust["Condition"]["StringEquals"]["aws:SourceAccount"]) == "<AWS::AccountId>"
    assert text(trust["Condition"]["ArnEquals"]["aws:SourceArn"]).endswith(":schedule-group/lake-dev")


def test_the_security_rules_find_nothing(timed: Synthesized) -> None:
    assert timed.failure == ""


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (
            {"operations.schedule": {"verfy": "rate(1 day)"}},
            "there is no routine 'verfy'.*choose from: verify, compact",
        ),
        ({"operations.schedule": {"refine-films_by_rating": "rate(1 day)"}}, "no routine 'refine-films_by_rating'"),
        ({"operations.schedule": {"start-stream": "rate(1 day)"}}, "no routine 'start-stream'"),
        ({"operations.refine": ["data/pagila/nothing.yaml"]}, "nothing.yaml"),
        ({"operations.refine": ["data/pagila/schema.txt"]}, "neither .*yaml nor"),
    ],
)
def test_what_names_no_routine_is_refused(changes: dict[str, Any], says: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=says):
        varied(tmp_path, "dev", changes)
