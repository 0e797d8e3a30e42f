"""The connectors of a lake on AWS: a pod next to Connect serves requests from S3 (ADR 19)."""

import json
from collections.abc import Sequence
from typing import Any

from lake.aws.environment import AwsEnvironment
from lake.aws.rendering import REQUESTS, sink_name
from lake.clients.control import Content, ask
from lake.config.definition import Database
from lake.config.report import Report
from lake.deployments import account as polling
from lake.deployments.account import Account
from lake.deployments.connectors import Ask

# The pod polls every minute, and ignores a request that is five minutes old.
ANSWER_WITHIN_S = 300.0


class BucketChannel:
    """Requests and answers below one prefix of a bucket."""

    def __init__(self, account: Account, bucket: str, prefix: str) -> None:
        self._account, self._bucket, self._prefix = account, bucket, prefix
        self._s3 = account.client("s3")
        self.where = f"s3://{bucket}/{prefix}"

    @property
    def poll_s(self) -> float:
        return polling.POLL_S

    def send(self, id: str, request: Content) -> None:
        self._s3.put_object(Bucket=self._bucket, Key=self._key("requests", id), Body=json.dumps(request).encode())

    def answer(self, id: str) -> Content | None:
        return self._account.read_json(self._bucket, self._key("answers", id)) or None

    def forget(self, id: str) -> None:
        for folder in ("requests", "answers"):
            self._s3.delete_object(Bucket=self._bucket, Key=self._key(folder, id))

    def _key(self, folder: str, id: str) -> str:
        return f"{self._prefix}/{folder}/{id}.json"


def connectors(environment: AwsEnvironment, databases: Sequence[Database]) -> list[str]:
    """The names of all connectors of these databases."""
    sinks = [sink_name(one) for one in databases] if environment.connect.s3_sink else []
    return [*(one.connector for one in databases), *sinks]


def aws_connectors(
    account: Account, environment: AwsEnvironment, bucket: str, databases: Sequence[Database], report: Report
) -> Ask:
    """As declared at the deployment: a change of the definition comes with the rights that it needs, by cdk deploy."""
    names = connectors(environment, databases)
    channel = BucketChannel(account, bucket, REQUESTS)
    now = (
        f"see: lake logs kafka-connect --env {environment.name}; "
        f"for what is not deployed: npx cdk deploy --all -c env={environment.name}"
    )

    def request(verb: str) -> dict[str, Any]:
        report(f"{verb}: waiting for the pod next to Kafka Connect, which polls every minute")
        return ask(channel, verb, {"names": names}, ANSWER_WITHIN_S, now)

    return request
