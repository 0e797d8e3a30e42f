"""The function that runs a task of ECS at a deployment, and tells CloudFormation how it ended."""

import json
from typing import Any

import pytest
from lake_constructs.functions import run_task

PROPERTIES = {
    "Cluster": "arn:cluster",
    "Definition": "arn:definition:7",
    "Subnets": ["subnet-1", "subnet-2"],
    "Groups": ["sg-1"],
    "Log": "lake-dev-source-database",
}
PLACES = {"StackId": "arn:stack", "RequestId": "r-1", "LogicalResourceId": "PreparedDone"}


class Aws:
    """ECS, which shows a task in these states one after the other, and CloudFormation, which gets the answer."""

    def __init__(self, states: list[str], codes: dict[str, int | None], failures: list[str] | None = None) -> None:
        self._states, self._codes, self._failures = iter(states), codes, failures or []
        self.started: list[dict[str, Any]] = []
        self.answers: list[dict[str, Any]] = []

    def client(self, service: str, region_name: str) -> "Aws":
        assert (service, region_name) == ("ecs", "eu-central-1")
        return self

    def run_task(self, **wanted: Any) -> dict[str, Any]:
        self.started.append(wanted)
        return {"tasks": [] if self._failures else [{"taskArn": "arn:task"}], "failures": self._failures}

    def describe_tasks(self, cluster: str, tasks: list[str]) -> dict[str, Any]:
        assert (cluster, tasks) == ("arn:cluster", ["arn:task"])
        containers = [{"name": name, "exitCode": code} for name, code in self._codes.items()]
        return {"tasks": [{"lastStatus": next(self._states), "containers": containers, "stoppedReason": "it ended"}]}

    def urlopen(self, request: Any, timeout: float) -> "Aws":
        assert (request.full_url, request.get_method()) == ("https://answer.example", "PUT")
        self.answers.append(json.loads(request.data))
        return self

    def __enter__(self) -> "Aws":
        return self

    def __exit__(self, *ended: object) -> None:
        pass


class Context:
    """A function that may run so many polls."""

    def __init__(self, polls: int = 100) -> None:
        self._left = polls

    def get_remaining_time_in_millis(self) -> int:
        self._left -= 1
        return run_task.TO_ANSWER_MS + self._left


def asked(aws: Aws, monkeypatch: pytest.MonkeyPatch, kind: str = "Create", context: Context | None = None) -> str:
    """The reason of the one answer; "done" for a success."""
    monkeypatch.setenv("AWS_REGION", "eu-central-1")
    monkeypatch.setattr(run_task, "boto3", aws)
    monkeypatch.setattr(run_task, "POLL_S", 0.0)
    monkeypatch.setattr(run_task.urllib.request, "urlopen", aws.urlopen)
    event = {"RequestType": kind, "ResponseURL": "https://answer.example", "ResourceProperties": PROPERTIES, **PLACES}
    run_task.handler(event, context or Context())
    (answer,) = aws.answers
    assert answer.items() >= {**PLACES, "PhysicalResourceId": "PreparedDone"}.items()
    assert (answer["Status"] == "SUCCESS") == (answer["Reason"] == "done")
    return str(answer["Reason"])


@pytest.mark.parametrize("kind", ["Create", "Update"])
def test_the_task_is_run_to_its_end(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    aws = Aws(["PENDING", "RUNNING", "STOPPED"], {"fetch": 0, "prepare": 0})
    assert asked(aws, monkeypatch, kind) == "done"
    (started,) = aws.started
    place = started["networkConfiguration"]["awsvpcConfiguration"]
    assert (started["taskDefinition"], started["launchType"]) == ("arn:definition:7", "FARGATE")
    assert (place["subnets"], place["assignPublicIp"]) == (["subnet-1", "subnet-2"], "DISABLED")


def test_a_deletion_runs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    aws = Aws([], {})
    assert asked(aws, monkeypatch, "Delete") == "done"
    assert aws.started == []


@pytest.mark.parametrize("codes", [{"fetch": 0, "prepare": 3}, {"fetch": 1, "prepare": None}])
def test_a_step_that_fails_fails_the_deployment(codes: dict[str, int | None], monkeypatch: pytest.MonkeyPatch) -> None:
    said = asked(Aws(["STOPPED"], codes), monkeypatch)
    assert "'prepare'" in said and "see the log group lake-dev-source-database" in said


def test_a_task_that_does_not_start_does_too(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "no capacity" in asked(Aws([], {}, ["no capacity"]), monkeypatch)


def test_an_answer_is_sent_before_the_function_must_end(monkeypatch: pytest.MonkeyPatch) -> None:
    aws = Aws(["RUNNING"] * 9, {})
    assert "did not end in time" in asked(aws, monkeypatch, context=Context(5))
