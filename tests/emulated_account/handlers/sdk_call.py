"""AwsCustomResource: one call of an API, whose answer a template may ask for."""

import json
import re
from collections.abc import Mapping
from typing import Any

from botocore.exceptions import ClientError

from tests.emulated_account.errors import NotEmulated
from tests.emulated_account.handlers.handler import Handler
from tests.emulated_account.resources.kind import Made, Properties

KNOWN = {
    *("service", "action", "parameters", "physicalResourceId", "outputPaths", "logApiResponseData"),
    "ignoreErrorCodesMatching",
}
NAMES = {"cloudwatchlogs": "logs"}  # of services, in JavaScript's SDK of old and in boto3


class AwsCustomResource(Handler):
    type = "Custom::AWS"

    def create(self, properties: Properties) -> Made:
        return self._run(properties, "Create")

    def update(self, made: Made, properties: Properties, before: Mapping[str, Any]) -> Made:
        if "Update" in properties:
            return self._run(properties, "Update")
        properties.rest()
        return made

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        if "Delete" in properties:
            raise NotEmulated("Custom::AWS with a call at deletion")

    def _run(self, properties: Properties, moment: str) -> Made:
        self.function(properties)
        if str(properties.get("InstallLatestAwsSdk")).lower() != "false":
            raise NotEmulated("Custom::AWS with the newest SDK")
        wish = json.loads(properties[moment])
        for other in {"Create", "Update"} - {moment}:
            properties.get(other)
        if wish.keys() - KNOWN:
            raise NotEmulated(f"{sorted(wish.keys() - KNOWN)[0]} of Custom::AWS")
        return Made(wish["physicalResourceId"]["id"], self._asked(wish))

    def _asked(self, wish: Mapping[str, Any]) -> dict[str, str]:
        name = wish["service"].lower()
        client = self.place.clients(NAMES.get(name, name), self.place.region)
        method = re.sub(r"(?<!^)(?=[A-Z])", "_", wish["action"]).lower()
        try:
            answer = getattr(client, method)(**wish.get("parameters", {}))
        except ClientError as error:
            ignored = wish.get("ignoreErrorCodesMatching")
            if not ignored or not re.search(ignored, error.response["Error"]["Code"]):
                raise
            return {}
        answer.pop("ResponseMetadata")
        found = flat(answer)
        paths = wish.get("outputPaths") or list(found)
        return {key: value for key, value in found.items() if key.startswith(tuple(paths))}


def flat(value: Any, path: str = "") -> dict[str, str]:
    """{"a": {"b": [1]}} as {"a.b.0": "1"}."""
    if isinstance(value, Mapping):
        parts = [flat(one, f"{path}.{key}" if path else key) for key, one in value.items()]
    elif isinstance(value, list):
        parts = [flat(one, f"{path}.{number}") for number, one in enumerate(value)]
    else:
        return {path: str(value)}
    return {key: one for part in parts for key, one in part.items()}
