"""Clients of the account's own APIs."""

from functools import cache
from typing import Any

import boto3
from botocore.config import Config

ACCOUNT = "123456789012"


class Clients:
    """One client per service and region; an answer is taken as it is, nothing is tried twice."""

    def __init__(self, endpoint: str) -> None:
        self._endpoint = endpoint
        self._made = cache(self._make)

    def __call__(self, service: str, region: str) -> Any:
        return self._made(service, region)

    def _make(self, service: str, region: str) -> Any:
        return boto3.client(
            service,
            region_name=region,
            endpoint_url=self._endpoint,
            aws_access_key_id="testing",
            aws_secret_access_key="testing",
            config=Config(retries={"total_max_attempts": 1}, s3={"addressing_style": "path"}),
        )
