"""The AWS account of an environment, through boto3 with the credentials and endpoint of the variables."""

import json
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import boto3
from botocore.exceptions import ClientError

from lake.config.errors import LakeError
from lake.config.waiting import wait_until

POLL_S = 5.0


class Account:
    """One client per service, all of one region."""

    def __init__(self, region: str) -> None:
        self.region = region
        self.client = cache(self._client)

    def _client(self, service: str) -> Any:
        return boto3.client(service, region_name=self.region)

    def pages(self, service: str, method: str, key: str, **filters: Any) -> Iterator[Any]:
        """All entries of a paginated list."""
        for page in self.client(service).get_paginator(method).paginate(**filters):
            yield from page.get(key, [])

    def read_json(self, bucket: str, key: str) -> dict[str, Any]:
        """The object's content; {} without an object or bucket."""
        return dict(json.loads(self.read(bucket, key) or "{}"))

    def read(self, bucket: str, key: str) -> bytes:
        """The object's content; empty without an object or bucket."""
        try:
            return bytes(self.client("s3").get_object(Bucket=bucket, Key=key)["Body"].read())
        except ClientError as error:
            if code(error) in ("NoSuchKey", "NoSuchBucket"):
                return b""
            raise


def code(error: Exception) -> str:
    """The code of an answer of AWS, as "NoSuchKey"; "" for any other error."""
    return str(getattr(error, "response", {}).get("Error", {}).get("Code", ""))


def wait(done: Callable[[], bool], what: str, timeout_s: float, poll_s: float | None = None) -> None:
    """Returns once done() is true. LakeError after the timeout. what: the thing that is waited for."""
    late = LakeError(f"{what}: not within {timeout_s:.0f} s", "AWS", "run the command again: it continues from here")
    wait_until(done, timeout_s, late, POLL_S if poll_s is None else poll_s)
