"""The function that makes a job run of EMR Serverless out of a resource of CloudFormation."""

import io
import json
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.exceptions import ClientError
from lake_constructs.functions import job_run

RUN = {"applicationId": "app1", "name": "stream", "mode": "STREAMING"}
PLACES = {"brokers": "k:9098", "silver": "lake-silver"}
EVENT = {"StackId": "s", "RequestId": "r-1", "LogicalResourceId": "Job", "ResponseURL": "https://answer"}


class Aws:
    """EMR Serverless with the runs of applications, and S3 with files. A cancelled run ends at the third look."""

    def __init__(self, runs: dict[str, list[dict[str, Any]]]) -> None:
        self.runs, self.stopped, self.looks = runs, [], 0
        self.files = {"template.json": '{"brokers": "@BROKERS@", "path": "s3://@SILVER@/x", "other": "@BRONZE@"}'}
        self.order: list[str] = []
        self.never_ends = False

    def client(self, service: str, region_name: str) -> "Aws":
        return self

    def get_paginator(self, name: str) -> SimpleNamespace:
        return SimpleNamespace(paginate=self._pages)

    def _pages(self, applicationId: str) -> list[dict[str, Any]]:
        self.looks += 1
        if applicationId not in self.runs:
            raise ClientError({"Error": {"Code": "ResourceNotFoundException", "Message": "gone"}}, "ListJobRuns")
        for run in self.runs[applicationId]:
            if run["state"] == "CANCELLING" and self.looks > 3 and not self.never_ends:
                run["state"] = "CANCELLED"
        return [{"jobRuns": [one]} for one in self.runs[applicationId]]

    def cancel_job_run(self, applicationId: str, jobRunId: str) -> None:
        self.order.append(f"cancel {jobRunId}")
        next(one for one in self.runs[applicationId] if one["id"] == jobRunId)["state"] = "CANCELLING"

    def start_job_run(self, **wish: Any) -> dict[str, Any]:
        self.order.append(f"start {wish['name']}")
        self.runs[wish["applicationId"]].append({"id": "new", "name": wish["name"], "state": "SUBMITTED"})
        self.wish = wish
        return {"jobRunId": "new"}

    def get_application(self, applicationId: str) -> dict[str, Any]:
        return {"application": {"state": "STOPPED" if applicationId in self.stopped else "STARTED"}}

    def stop_application(self, applicationId: str) -> None:
        self.stopped.append(applicationId)

    def get_object(self, Bucket: str, Key: str) -> dict[str, Any]:
        return {"Body": io.BytesIO(self.files[Key].encode())}

    def put_object(self, Bucket: str, Key: str, Body: bytes) -> None:
        self.files[f"{Bucket}/{Key}"] = Body.decode()


def run(name: str, state: str, id: str = "old") -> dict[str, Any]:
    return {"id": id, "name": name, "state": state}


def properties(application: str = "app1") -> dict[str, str]:
    told = {"Run": {**RUN, "applicationId": application}, "Places": PLACES}
    files = {"Template": "s3://assets/template.json", "Pipeline": "s3://artifacts/state/stream/pipeline.json"}
    return {**{key: json.dumps(value) for key, value in told.items()}, **files}


def called(aws: Aws, kind: str, monkeypatch: pytest.MonkeyPatch, **more: Any) -> dict[str, Any]:
    """What the function answers CloudFormation."""
    answers: list[dict[str, Any]] = []
    monkeypatch.setenv("AWS_REGION", "eu-central-1")
    monkeypatch.setattr(job_run, "POLL_S", 0.0)
    monkeypatch.setattr(job_run, "boto3", aws)
    monkeypatch.setattr(job_run.urllib.request, "urlopen", lambda request: answers.append(json.loads(request.data)))
    job_run.handler({**EVENT, "RequestType": kind, "ResourceProperties": properties(), **more}, None)
    (answer,) = answers
    assert {key: answer[key] for key in ("StackId", "RequestId", "LogicalResourceId")} == {
        key: EVENT[key] for key in ("StackId", "RequestId", "LogicalResourceId")
    }
    return answer


def test_a_new_job_gets_its_pipeline_file_and_is_started_once(monkeypatch: pytest.MonkeyPatch) -> None:
    aws = Aws({"app1": []})
    answer = called(aws, "Create", monkeypatch)
    assert (answer["Status"], answer["PhysicalResourceId"], answer["Data"]) == (
        "SUCCESS",
        "stream",
        {"JobRunId": "new"},
    )
    assert aws.wish == {**RUN, "clientToken": "r-1"}
    written = json.loads(aws.files["artifacts/state/stream/pipeline.json"])
    assert written == {"brokers": "k:9098", "path": "s3://lake-silver/x", "other": "@BRONZE@"}


def test_a_change_ends_the_run_before_it_starts_the_next_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two runs would write the same tables. Others go on."""
    aws = Aws({"app1": [run("stream", "RUNNING"), run("verify", "RUNNING", "v"), run("stream", "FAILED", "older")]})
    called(aws, "Update", monkeypatch, OldResourceProperties=properties())
    assert aws.order == ["cancel old", "start stream"]
    assert aws.runs["app1"][0]["state"] == "CANCELLED"


def test_a_run_that_does_not_end_starts_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    aws = Aws({"app1": [run("stream", "RUNNING")]})
    aws.never_ends = True
    monkeypatch.setattr(job_run, "STOP_WITHIN_S", -1.0)
    answer = called(aws, "Update", monkeypatch)
    assert answer["Status"] == "FAILED" and "the running stream did not end within" in answer["Reason"]
    assert aws.order == ["cancel old"]


def test_another_application_takes_over_and_the_old_one_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """CloudFormation deletes it afterwards, which it can do with a stopped one only."""
    aws = Aws({"app0": [run("stream", "RUNNING")], "app1": []})
    called(aws, "Update", monkeypatch, OldResourceProperties=properties("app0"))
    assert aws.order == ["cancel old", "start stream"]
    assert aws.stopped == ["app0"]


def test_the_end_of_the_last_job_stops_the_application(monkeypatch: pytest.MonkeyPatch) -> None:
    aws = Aws({"app1": [run("stream", "RUNNING")]})
    assert called(aws, "Delete", monkeypatch)["Status"] == "SUCCESS"
    assert (aws.order, aws.stopped) == (["cancel old"], ["app1"])


def test_the_end_of_one_of_several_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    aws = Aws({"app1": [run("stream", "RUNNING"), run("bronze", "RUNNING", "b")]})
    called(aws, "Delete", monkeypatch)
    assert (aws.order, aws.stopped) == (["cancel old"], [])


def test_an_application_that_somebody_deleted_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """Or the stack could never be deleted."""
    aws = Aws({})
    assert called(aws, "Delete", monkeypatch)["Status"] == "SUCCESS"


def test_a_failure_is_told_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without an answer CloudFormation would wait for an hour."""
    answer = called(Aws({}), "Create", monkeypatch)
    assert answer["Status"] == "FAILED"
    assert answer["Reason"].startswith("ClientError:") and "ResourceNotFoundException" in answer["Reason"]
