"""A continuous job of EMR Serverless, and a task of ECS at a deployment: the product's own functions run here."""

import importlib.util
import json
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from types import ModuleType, SimpleNamespace
from typing import Any, ClassVar
from uuid import uuid4

from tests.emulated_account.errors import Refused
from tests.emulated_account.handlers.handler import Handler
from tests.emulated_account.resources.kind import Made, Place, Properties

LONG_MS = 600_000  # the time that a function has left


class OwnFunction(Handler):
    """code: the module with the function."""

    code: ClassVar[str]

    def create(self, properties: Properties) -> Made:
        return self._told("Create", properties)

    def update(self, made: Made, properties: Properties, before: Mapping[str, Any]) -> Made:
        return self._told("Update", properties, OldResourceProperties=dict(before))

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        self._told("Delete", Properties(properties))

    def _told(self, kind: str, properties: Properties, **more: Any) -> Made:
        self.function(properties)
        wanted = properties.rest()
        answers: list[dict[str, Any]] = []
        event = {"RequestType": kind, "RequestId": str(uuid4()), "ResponseURL": "https://cloudformation", **more}
        ids = {"StackId": self.place.stack, "LogicalResourceId": self.place.logical_id}
        context = SimpleNamespace(get_remaining_time_in_millis=lambda: LONG_MS)
        function(self.code, self.place, answers).handler({**event, **ids, "ResourceProperties": wanted}, context)
        (answer,) = answers
        if answer["Status"] != "SUCCESS":
            raise Refused(f"Received response status [FAILED] from custom resource. Reason: {answer['Reason']}")
        return Made(answer["PhysicalResourceId"], answer.get("Data", {}))


class JobRun(OwnFunction):
    type, code = "Custom::LakeJobRun", "lake_constructs.functions.job_run"


class TaskAtDeployment(OwnFunction):
    type, code = "AWS::CloudFormation::CustomResource", "lake_constructs.functions.run_task"


def function(code: str, place: Place, answers: list[dict[str, Any]]) -> ModuleType:
    """The module with this account's clients, without pauses, and with a place for its answer."""
    spec = importlib.util.find_spec(code)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    given: Any = module
    given.os = SimpleNamespace(environ={"AWS_REGION": place.region})
    given.boto3 = SimpleNamespace(client=lambda service, region_name: place.clients(service, region_name))
    given.POLL_S = 0.0
    request = SimpleNamespace(Request=lambda url, data, method: data, urlopen=lambda data, **_: taken(answers, data))
    given.urllib = SimpleNamespace(request=request)
    return module


def taken(answers: list[dict[str, Any]], data: bytes) -> AbstractContextManager[None]:
    answers.append(json.loads(data))
    return nullcontext()
