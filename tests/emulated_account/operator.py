"""An operator at the emulated account: the variables, the lake of an environment file, and what its jobs leave."""

import json
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from lake.aws.environment import load_aws_environment
from lake.config.definition import load_databases
from lake.config.errors import LakeError
from lake.deployments import account as polling
from lake.deployments.aws import AwsDeployment
from tests.emulated_account.account import Account
from tests.emulated_account.command import QUIET, ROOT
from tests.emulated_account.machine import Paper
from tests.emulated_account.story import HOME

TABLES = ("moma_cow.artists", "moma_mor.artists", "moma_cow.artworks", "moma_mor.artworks", "moma_mor.departments")
RESULT = {"equal": True, "seconds": 1.0, "tables": {}}


class Jobs:
    """What the jobs of the lake would leave on S3; none of them runs."""

    def __init__(self, account: Account) -> None:
        self._s3 = account.client("s3", HOME)

    def machine(self) -> Paper:
        return Paper(
            {
                "stream": self.reporting(TABLES),
                "load": self.result({"added": {"artists": 1}}),
                "verify": self.result(RESULT),
            }
        )

    def reporting(self, names: Iterable[str]) -> Callable[[list[str]], str]:
        """The stream says that each of these tables has a commit."""
        tables = {name: {"state": "running", "committed_at": 1.0} for name in names}

        def act(arguments: list[str]) -> str:
            pipeline = arguments[arguments.index("--config") + 1]
            self._put(pipeline.replace("pipeline.json", "status.json"), {"at": time.time(), "tables": tables})
            return "Submitted application application_1_0001\n"

        return act

    def streamer(self, arguments: list[str]) -> str:
        """Says that it lives."""
        self._put(arguments[arguments.index("--status") + 1], {"at": time.time(), "tables": {}})
        return "Submitted application application_1_0002\n"

    def result(self, content: dict[str, Any]) -> Callable[[list[str]], str]:
        def act(arguments: list[str]) -> str:
            self._put(arguments[arguments.index("--output") + 1], content)
            return "done\n"

        return act

    def _put(self, url: str, content: dict[str, Any]) -> None:
        bucket, _, key = url.removeprefix("s3://").partition("/")
        self._s3.put_object(Bucket=bucket, Key=key, Body=json.dumps(content).encode())


def lake_of(name: str) -> AwsDeployment:
    return AwsDeployment(load_aws_environment(ROOT, name), load_databases(ROOT))


@contextmanager
def as_operator(account: Account) -> Iterator[None]:
    """The variables that lead to the account, and no time between two looks."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("AWS_")]:
            patch.delenv(name)
        for name, value in {**account.variables(HOME), **QUIET}.items():
            patch.setenv(name, value)
        patch.setattr(polling, "POLL_S", 0.0)
        yield


def quiet(_: str) -> None:
    """What is said is not looked at."""


def yes(_: str) -> bool:
    return True


def refused(act: Callable[[], object], error: type[LakeError]) -> str:
    """The words of the refusal."""
    with pytest.raises(error) as raised:
        act()
    return str(raised.value)
