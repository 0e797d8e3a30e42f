"""Lambda: a continuous job of EMR Serverless as a resource of CloudFormation, which has no type for job runs.

When the resource is made or changed, the run of the same name ends, the pipeline file is filled in, and a new run
starts, perhaps on another application. When the resource is deleted, the run ends; after the last one the application
is stopped, because only an application that has stopped can be deleted.

Properties: Run (a request of StartJobRun as JSON), Template and Pipeline (URLs on S3), Places (what the @NAMES@ of the
template stand for, as JSON).
"""

import json
import os
import time
import urllib.request
from typing import Any

import boto3
from botocore.exceptions import ClientError

Event = dict[str, Any]

ENDED = ("SUCCESS", "FAILED", "CANCELLED")
STOPPED = ("CREATED", "STOPPED", "TERMINATED")
STOP_WITHIN_S = 250.0  # three times in one call, which may take 15 minutes
POLL_S = float(os.environ.get("POLL_S", "5"))


def handler(event: Event, context: object) -> None:
    """Does what the event asks for, and answers CloudFormation, which otherwise would wait for an hour."""
    wanted = event["ResourceProperties"]
    answer: Event = {"Status": "SUCCESS", "PhysicalResourceId": json.loads(wanted["Run"])["name"]}
    try:
        done = end_job(wanted) if event["RequestType"] == "Delete" else start_job(wanted, event)
        answer["Data"] = {"JobRunId": done}
    except Exception as error:
        answer |= {"Status": "FAILED", "Reason": f"{type(error).__name__}: {error}"}
    same = {key: event[key] for key in ("StackId", "RequestId", "LogicalResourceId")}
    body = json.dumps({**answer, **same}).encode()
    urllib.request.urlopen(urllib.request.Request(event["ResponseURL"], data=body, method="PUT"))


def start_job(wanted: dict[str, str], event: Event) -> str:
    """The id of the new run. Lambda may call twice with one RequestId, which starts no second run."""
    run, emr, before = json.loads(wanted["Run"]), client("emr-serverless"), event.get("OldResourceProperties")
    if before and json.loads(before["Run"])["applicationId"] != run["applicationId"]:
        end_job(before)  # the application is replaced
    end_runs(emr, run["applicationId"], run["name"])
    fill_in(wanted["Template"], wanted["Pipeline"], json.loads(wanted["Places"]))
    return str(emr.start_job_run(**run, clientToken=event["RequestId"])["jobRunId"])


def end_job(wanted: dict[str, str]) -> str:
    """Ends the run, and stops the application if no run is left. One that somebody deleted has no runs."""
    run, emr = json.loads(wanted["Run"]), client("emr-serverless")
    try:
        end_runs(emr, run["applicationId"], run["name"])
        stop_if_idle(emr, run["applicationId"])
    except ClientError as error:
        if error.response["Error"]["Code"] != "ResourceNotFoundException":
            raise
    return ""


def stop_if_idle(emr: Any, application: str) -> None:
    if not active(emr, application) and state(emr, application) not in STOPPED:
        emr.stop_application(applicationId=application)
        wait(lambda: state(emr, application) in STOPPED, "the application did not stop")


def end_runs(emr: Any, application: str, name: str) -> None:
    """Two runs would write the same tables. Hudi rolls back unfinished commits at the next start."""
    for id in active(emr, application, name):
        emr.cancel_job_run(applicationId=application, jobRunId=id)
    wait(lambda: not active(emr, application, name), f"the running {name} did not end")


def active(emr: Any, application: str, name: str = "") -> list[str]:
    """The ids of the runs that have not ended, of one name or of all."""
    pages = emr.get_paginator("list_job_runs").paginate(applicationId=application)
    runs = [one for page in pages for one in page["jobRuns"] if one["state"] not in ENDED]
    return [one["id"] for one in runs if name in ("", one.get("name"))]


def state(emr: Any, application: str) -> str:
    return str(emr.get_application(applicationId=application)["application"]["state"])


def fill_in(template: str, target: str, places: dict[str, str]) -> None:
    """Writes the pipeline file with the addresses that only the deployment knows."""
    s3 = client("s3")
    text = s3.get_object(**parts(template))["Body"].read().decode()
    for name, value in places.items():
        text = text.replace(f"@{name.upper()}@", value)
    s3.put_object(**parts(target), Body=text.encode())


def parts(url: str) -> dict[str, str]:
    bucket, _, key = url.removeprefix("s3://").partition("/")
    return {"Bucket": bucket, "Key": key}


def client(service: str) -> Any:
    return boto3.client(service, region_name=os.environ["AWS_REGION"])


def wait(done: Any, otherwise: str) -> None:
    """TimeoutError with that text."""
    begun = time.monotonic()
    while not done():
        if time.monotonic() - begun > STOP_WITHIN_S:
            raise TimeoutError(f"{otherwise} within {STOP_WITHIN_S:.0f} s")
        time.sleep(POLL_S)
