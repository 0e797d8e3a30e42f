"""What moto lacks of EMR: steps that run and end, how a cluster grows, when it ends by itself, and a list."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from moto.backends import get_backend

from tests.emulated_account.clients import ACCOUNT
from tests.emulated_account.errors import NotEmulated
from tests.emulated_account.machine import Ended, Machine, Paper
from tests.emulated_account.services.service import Answer, Service, refuse

RUNNER = "command-runner.jar"  # the one jar that needs no right to read it
UNFINISHED = {"PENDING": "CANCELLED", "RUNNING": "INTERRUPTED"}  # what the end of the cluster makes of a step
GONE = ("TERMINATED", "TERMINATED_WITH_ERRORS")


@dataclass
class Step:
    """One step of a cluster."""

    id: str
    wish: Answer
    machine: Machine  # that runs it
    state: str = "PENDING"
    reason: str = ""
    times: dict[str, datetime] = field(default_factory=lambda: {"CreationDateTime": datetime.now(UTC)})

    @property
    def arguments(self) -> list[str]:
        return [str(one) for one in self.wish["HadoopJarStep"].get("Args", [])]

    def answer(self) -> Answer:
        jar = self.wish["HadoopJarStep"]
        config = {"Jar": jar["Jar"], "Args": self.arguments, "Properties": {}}
        status: Answer = {"State": self.state, "StateChangeReason": {}, "Timeline": self.times}
        if self.state == "FAILED":
            status["FailureDetails"] = {"Reason": "Unknown Error.", "Message": self.reason}
        action = self.wish.get("ActionOnFailure", "CONTINUE")
        return {"Id": self.id, "Name": self.wish["Name"], "Config": config, "ActionOnFailure": action, "Status": status}


class Emr(Service):
    name, signed = "emr", "elasticmapreduce"

    def __init__(self, clients: Any) -> None:
        super().__init__(clients)
        self.scaling: dict[str, Answer] = {}  # by cluster
        self.termination: dict[str, Answer] = {}
        self.clusters: dict[str, list[Step]] = {}  # steps by cluster
        self.machine: Machine = Paper()

    def add_job_flow_steps(self, region: str, wish: Answer) -> Answer:
        self._check_alive(region, wish["JobFlowId"])
        for one in wish["Steps"]:
            if one["HadoopJarStep"]["Jar"] != RUNNER:
                raise NotEmulated(f"a step with the jar {one['HadoopJarStep']['Jar']}")
        added = [Step(f"s-{uuid4().hex[:13].upper()}", one, self.machine) for one in wish["Steps"]]
        self.clusters.setdefault(wish["JobFlowId"], []).extend(added)
        for step in added:
            step.machine.begin(step.id, str(step.wish["Name"]), step.arguments, region)
        return {"StepIds": [one.id for one in added]}

    def list_steps(self, region: str, wish: Answer) -> Answer:
        """The newest first."""
        states, ids = wish.get("StepStates"), wish.get("StepIds")
        steps = self.clusters.get(wish["ClusterId"], [])
        found = [one for one in reversed(steps) if (not states or one.state in states) and (not ids or one.id in ids)]
        return {"Steps": [self._further(region, wish["ClusterId"], one).answer() for one in found]}

    def describe_step(self, region: str, wish: Answer) -> Answer:
        return {"Step": self._further(region, wish["ClusterId"], self._step(wish)).answer()}

    def cancel_steps(self, region: str, wish: Answer) -> Answer:
        answers = []
        for id in wish["StepIds"]:
            step = self._step({**wish, "StepId": id})
            refused = step.state not in ("PENDING", "RUNNING")
            if not refused:
                step.machine.cancel(step.id)
                step.state, step.times["EndDateTime"] = "CANCELLED", datetime.now(UTC)
            status = {"Status": "FAILED", "Reason": f"Step is {step.state}"} if refused else {"Status": "SUBMITTED"}
            answers.append({"StepId": id, **status})
        return {"CancelStepsInfoList": answers}

    def _step(self, wish: Answer) -> Step:
        for one in self.clusters.get(wish["ClusterId"], []):
            if one.id == wish["StepId"]:
                return one
        raise refuse("InvalidRequestException", f"Step id '{wish['StepId']}' is not valid.")

    def _further(self, region: str, cluster: str, step: Step) -> Step:
        if self._has_ended(region, cluster):
            step.state = UNFINISHED.get(step.state, step.state)
        elif step.state == "PENDING":
            step.state, step.times["StartDateTime"] = "RUNNING", datetime.now(UTC)
        elif step.state == "RUNNING" and (ended := step.machine.look(step.id)):
            step.state, step.reason = "FAILED" if ended.code else "COMPLETED", ended.reason
            step.times["EndDateTime"] = datetime.now(UTC)
            self._deliver(region, cluster, step, ended)
        return step

    def _deliver(self, region: str, cluster: str, step: Step, ended: Ended) -> None:
        """The log, where the cluster's LogUri says."""
        described = self.clients("emr", region).describe_cluster(ClusterId=cluster)["Cluster"]
        bucket, _, folder = described["LogUri"].partition("://")[2].partition("/")
        key = f"{folder.rstrip('/')}/{cluster}/steps/{step.id}/stderr.gz"
        self.clients("s3", region).put_object(Bucket=bucket, Key=key, Body=ended.packed)

    def _check_alive(self, region: str, id: str) -> None:
        if self._has_ended(region, id):
            raise refuse("InvalidRequestException", "A job flow that is finished may not be modified.")

    def _has_ended(self, region: str, id: str) -> bool:
        found = get_backend("emr")[ACCOUNT][region].clusters.get(id)
        return found is None or found.state in GONE

    def put_managed_scaling_policy(self, _: str, wish: Answer) -> Answer:
        self.scaling[wish["ClusterId"]] = wish["ManagedScalingPolicy"]
        return {}

    def get_managed_scaling_policy(self, _: str, wish: Answer) -> Answer:
        found = self.scaling.get(wish["ClusterId"])
        return {"ManagedScalingPolicy": found} if found else {}

    def put_auto_termination_policy(self, _: str, wish: Answer) -> Answer:
        self.termination[wish["ClusterId"]] = wish["AutoTerminationPolicy"]
        return {}

    def get_auto_termination_policy(self, _: str, wish: Answer) -> Answer:
        found = self.termination.get(wish["ClusterId"])
        return {"AutoTerminationPolicy": found} if found else {}

    def list_security_configurations(self, region: str, _: Answer) -> Answer:
        found = get_backend("emr")[ACCOUNT][region].security_configurations.values()
        return {"SecurityConfigurations": [{"Name": one.name} for one in found]}
