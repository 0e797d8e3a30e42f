"""A continuous job of EMR Serverless: the product's own function runs here, on the account."""

import importlib.util
import json
from collections.abc import Mapping
from types import ModuleType, SimpleNamespace
from typing import Any
from uuid import uuid4

from tests.emulated_account.errors import Refused
from tests.emulated_account.handlers.handler import Handler
from tests.emulated_account.resources.kind import Made, Place, Properties

CODE = "lake_constructs.functions.job_run"


class JobRun(Handler):
    type = "Custom::LakeJobRun"

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
        function(self.place, answers).handler({**event, **ids, "ResourceProperties": wanted}, None)
        (answer,) = answers
        if answer["Status"] != "SUCCESS":
            raise Refused(f"Received response status [FAILED] from custom resource. Reason: {answer['Reason']}")
        return Made(answer["PhysicalResourceId"], answer["Data"])


def function(place: Place, answers: list[dict[str, Any]]) -> ModuleType:
    """The module with this account's clients, without pauses, and with a place for its answer."""
    spec = importlib.util.find_spec(CODE)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    given: Any = module
    given.os = SimpleNamespace(environ={"AWS_REGION": place.region})
    given.boto3 = SimpleNamespace(client=lambda service, region_name: place.clients(service, region_name))
    given.POLL_S = 0.0
    request = SimpleNamespace(
        Request=lambda url, data, method: data, urlopen=lambda data: answers.append(json.loads(data))
    )
    given.urllib = SimpleNamespace(request=request)
    return module
