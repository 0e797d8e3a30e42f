"""The connectors of a lake on AWS: asked by a request that lies on S3, which a pod beside Connect answers (ADR 19)."""

import json
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from lake.aws.rendering import REQUESTS, sink_name
from lake.config.definition import Database
from lake.config.errors import BadInput, LakeError
from lake.deployments.account import wait
from lake.deployments.aws import AwsPlace
from lake.deployments.connectors import Pair, Status
from lake.deployments.deployment import Say

# The pod looks every minute, and lets a request lie that is five minutes old.
ANSWER_WITHIN_S = 300.0


class AwsConnectors:
    """As declared at the deployment: a change of the definition comes with the rights that it needs, by cdk deploy."""

    def __init__(self, place: AwsPlace, databases: Sequence[Database], say: Say) -> None:
        self._place, self._say = place, say
        sinks = [sink_name(one) for one in databases] if place.environment.connect.s3_sink else []
        self._names = [*(one.connector for one in databases), *sinks]
        self._s3 = place.account.client("s3")

    def settings(self) -> dict[str, Pair]:
        return _pairs(self._ask("settings"))

    def apply(self) -> dict[str, Pair]:
        return _pairs(self._ask("apply"))

    def statuses(self) -> dict[str, Status]:
        return self._ask("status")

    def tell(self, verb: str) -> list[str]:
        self._ask(verb)
        return self._names

    def _ask(self, verb: str) -> dict[str, Any]:
        """The answer; BadInput when the request is refused, LakeError when Connect fails, or nobody answers."""
        bucket, name = self._place.sheet().places["artifacts"], f"{uuid4()}.json"
        request, answer = (f"{REQUESTS}/{folder}/{name}" for folder in ("requests", "answers"))
        body = json.dumps({"verb": verb, "names": self._names}).encode()
        self._s3.put_object(Bucket=bucket, Key=request, Body=body)
        self._say(f"{verb}: waits for the pod that asks Kafka Connect; it looks every minute")
        try:
            return self._taken(bucket, answer)
        finally:
            for key in (request, answer):
                self._s3.delete_object(Bucket=bucket, Key=key)

    def _taken(self, bucket: str, key: str) -> dict[str, Any]:
        found: dict[str, Any] = {}

        def there() -> bool:
            found.update(self._place.account.read_json(bucket, key))
            return bool(found)

        wait(there, "the answer of Kafka Connect", ANSWER_WITHIN_S)
        if "error" not in found:
            return dict(found["answer"])
        log = f"see: lake logs kafka-connect --env {self._place.name}"
        if found["code"] == 2:
            now = f"correct it; for what is not deployed: npx cdk deploy --all -c env={self._place.name}"
            raise BadInput(found["error"], f"connectors of {self._place.name}", now)
        raise LakeError(found["error"], f"connectors of {self._place.name}", log)


def _pairs(found: dict[str, Any]) -> dict[str, Pair]:
    return {name: Pair(**one) for name, one in found.items()}
