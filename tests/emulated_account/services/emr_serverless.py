"""EMR Serverless as far as the lake calls it: applications and their job runs; no Spark runs.

Emulated: making, looking at, stopping and deleting an application. It starts with its first job run, is not deleted
while it is not stopped, and does not stop while a run is active. Job runs of both modes: their states, the token of a
start, names and tags, cancelling, and the driver's log in S3. A run of mode STREAMING runs until it is cancelled or
fails, one of mode BATCH ends at a second look. What a run does is what a test gives it.

Not emulated: retries, limits on vCPUs and memory, networks, secrets in settings, automatic stopping.
"""

import copy
import gzip
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from tests.emulated_account.clients import ACCOUNT
from tests.emulated_account.services.service import Answer, Service, refuse

ENDED = ("SUCCESS", "FAILED", "CANCELLED")
CHANGEABLE = ("CREATED", "STOPPED")
NEXT = {"SUBMITTED": "SCHEDULED", "SCHEDULED": "RUNNING", "CANCELLING": "CANCELLED"}
Act = Callable[[list[str]], str]  # what a run does with the arguments of its script; its log; raises to fail


@dataclass
class JobRun:
    """One run; the log of its driver."""

    id: str
    wish: Answer
    log: str = ""
    fails: str = ""
    state: str = "SUBMITTED"
    created: datetime = field(default_factory=lambda: datetime.now(UTC))
    changed: datetime = field(default_factory=lambda: datetime.now(UTC))

    @property
    def streams(self) -> bool:
        return bool(self.wish.get("mode") == "STREAMING")

    def further(self) -> None:
        """A look takes it one state further."""
        if self.state == "RUNNING":
            after = "FAILED" if self.fails else "RUNNING" if self.streams else "SUCCESS"
        else:
            after = NEXT.get(self.state, self.state)
        if after != self.state:
            self.state, self.changed = after, datetime.now(UTC)


class EmrServerless(Service):
    name, signed, whole = "emr-serverless", "emr-serverless", True

    def __init__(self, clients: Any) -> None:
        super().__init__(clients)
        self.applications: dict[str, Answer] = {}
        self.runs: dict[str, list[JobRun]] = {}  # by application
        self.acts: dict[str, Act] = {}  # by the name of a run

    def create_application(self, region: str, wish: Answer) -> Answer:
        id = f"00{uuid4().hex[:14]}"
        arn = f"arn:aws:emr-serverless:{region}:{ACCOUNT}:/applications/{id}"
        kept = {key: value for key, value in wish.items() if key != "clientToken"}
        times = {"createdAt": datetime.now(UTC), "updatedAt": datetime.now(UTC)}
        self.applications[id] = {**kept, **times, "applicationId": id, "arn": arn, "state": "CREATED"}
        self.runs[id] = []
        return {"applicationId": id, "name": wish["name"], "arn": arn}

    def get_application(self, _: str, wish: Answer) -> Answer:
        return {"application": copy.deepcopy(self._application(wish))}

    def list_applications(self, region: str, _: Answer) -> Answer:
        found = [one for one in self.applications.values() if f":{region}:" in one["arn"]]
        return {"applications": [{**one, "id": one["applicationId"]} for one in found]}

    def stop_application(self, _: str, wish: Answer) -> Answer:
        application = self._application(wish)
        if any(one.state not in ENDED for one in self.runs[application["applicationId"]]):
            raise refuse("ValidationException", "Application cannot be stopped with active job runs.")
        application["state"] = "STOPPED"
        return {}

    def delete_application(self, _: str, wish: Answer) -> Answer:
        application = self._application(wish)
        if application["state"] not in CHANGEABLE:
            raise refuse("ValidationException", "Application must be in CREATED or STOPPED state to be deleted.")
        del self.applications[application["applicationId"]]
        return {}

    def _application(self, wish: Answer) -> Answer:
        if wish["applicationId"] not in self.applications:
            raise refuse("ResourceNotFoundException", f"Application {wish['applicationId']} does not exist.")
        return self.applications[wish["applicationId"]]

    def start_job_run(self, _: str, wish: Answer) -> Answer:
        application = self._application(wish)
        runs = self.runs[application["applicationId"]]
        same = [one for one in runs if one.wish["clientToken"] == wish["clientToken"]]
        run = same[0] if same else JobRun(f"00{uuid4().hex[:14]}", wish)
        if not same:
            runs.append(run)
            application["state"] = "STARTED"
            self._act(run)
        arn = f"{application['arn']}/jobruns/{run.id}"
        return {"applicationId": application["applicationId"], "jobRunId": run.id, "arn": arn}

    def _act(self, run: JobRun) -> None:
        act = self.acts.get(str(run.wish["name"]), lambda _: "done\n")
        try:
            run.log = act(list(run.wish["jobDriver"]["sparkSubmit"]["entryPointArguments"]))
        except Exception as error:
            run.log = run.fails = str(error)

    def list_job_runs(self, region: str, wish: Answer) -> Answer:
        """Not in the order of their starts, which nobody promises."""
        self._application(wish)
        runs = self.runs[wish["applicationId"]]
        return {"jobRuns": [{**self._seen(region, wish, one), "id": one.id} for one in runs]}

    def get_job_run(self, region: str, wish: Answer) -> Answer:
        return {"jobRun": self._seen(region, wish, self._run(wish))}

    def _seen(self, region: str, wish: Answer, run: JobRun) -> Answer:
        before = run.state
        run.further()
        if before not in ENDED and run.state in ENDED:
            self._deliver(region, wish["applicationId"], run)
        application = self._application(wish)
        told: Answer = {key: run.wish[key] for key in ("name", "mode", "jobDriver", "tags") if key in run.wish}
        return {
            **told,
            "applicationId": wish["applicationId"],
            "jobRunId": run.id,
            "arn": f"{application['arn']}/jobruns/{run.id}",
            "createdBy": f"arn:aws:iam::{ACCOUNT}:root",
            "createdAt": run.created,
            "updatedAt": run.changed,
            "executionRole": run.wish["executionRoleArn"],
            "releaseLabel": application["releaseLabel"],
            "state": run.state,
            "stateDetails": run.fails if run.state == "FAILED" else "",
        }

    def cancel_job_run(self, _: str, wish: Answer) -> Answer:
        run = self._run(wish)
        if run.state in ENDED:
            raise refuse("ValidationException", f"Job run is in terminal state {run.state}.")
        run.state, run.changed = "CANCELLING", datetime.now(UTC)
        return {"applicationId": wish["applicationId"], "jobRunId": run.id}

    def _run(self, wish: Answer) -> JobRun:
        self._application(wish)
        for one in self.runs[wish["applicationId"]]:
            if one.id == wish["jobRunId"]:
                return one
        raise refuse("ResourceNotFoundException", f"Job run {wish['jobRunId']} does not exist.")

    def _deliver(self, region: str, application: str, run: JobRun) -> None:
        """The log of the driver, where the application's settings say."""
        monitoring = self.applications[application]["monitoringConfiguration"]["s3MonitoringConfiguration"]
        bucket, _, folder = monitoring["logUri"].partition("://")[2].partition("/")
        key = f"{folder.rstrip('/')}/applications/{application}/jobs/{run.id}/SPARK_DRIVER/stderr.gz"
        self.clients("s3", region).put_object(Bucket=bucket, Key=key, Body=gzip.compress(run.log.encode()))
