"""What an operator asks of Kafka Connect on AWS: the pod of the chart runs, with the values that were deployed."""

import json
import os
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from lake.aws.rendering import REQUESTS
from lake.cli.main import app
from lake.config.definition import Database, load_databases
from lake.config.errors import BadInput, LakeError
from lake.deployments import account as polling
from lake.deployments import aws_connectors
from lake.deployments.connectors import Difference, differences
from tests.charts.fake_connect import FakeConnect, serving
from tests.charts.hook import run_pod
from tests.charts.rendering import of_kind, only
from tests.emulated_account.account import Account
from tests.emulated_account.command import ROOT
from tests.emulated_account.machine import NODE
from tests.emulated_account.operator import lake_of, quiet, refused
from tests.emulated_account.story import HOME

MOMA = "source_postgres_moma"
FOREIGN = Database.model_validate({"database": "shop", "tables": {"public.sale": {"key": ["id"]}}})
PASSWORD = "hunter2"


@dataclass(frozen=True)
class Asked:
    """What was seen."""

    missing: list[Difference]
    applied: dict[str, str]
    same: list[Difference]
    differing: list[Difference]
    states: list[str]
    running: Any  # as the command line prints it
    unknown: str
    wrong: str
    alone: str  # nobody answers
    left: list[str]  # objects of requests and answers at the end


def ask(account: Account) -> Asked:
    deployment = lake_of("dev")
    moma = deployment.connectors(load_databases(ROOT), quiet)
    with serving(FakeConnect(login=operator(account))) as connect, pytest.MonkeyPatch.context() as patch:
        patch.setattr(polling, "POLL_S", 0.1)  # processes take their time
        with pods(account, connect.url):
            missing = differences(moma("settings"))
            moma("apply")
            applied = dict(connect.connectors[MOMA])
            same = differences(moma("settings"))
            connect.connectors[MOMA] = {**applied, "poll.interval.ms": "1", "database.password": PASSWORD}
            differing = differences(moma("settings"))
            states = [connect.states[MOMA] for verb in ("pause", "resume") if moma(verb)]
            printed = CliRunner().invoke(app, ["connectors", "status", "--env", "dev", "--json"])
            running = json.loads(printed.stdout)
            unknown = refused(lambda: deployment.connectors([FOREIGN], quiet)("status"), BadInput)
            connect.planned = [(400, {"message": "Connector config is invalid"})]
            wrong = refused(lambda: moma("settings"), LakeError)
        patch.setattr(aws_connectors, "ANSWER_WITHIN_S", 0.0)
        alone = refused(lambda: moma("settings"), LakeError)
    left = objects(account, deployment.steps.bucket())
    return Asked(missing, applied, same, differing, states, running, unknown, wrong, alone, left)


def operator(account: Account) -> tuple[str, str]:
    """The login that the deployment generated for those who call Connect."""
    arn = account.release(HOME, "lake-dev", "kafka-connect").values["restSecret"]
    secret = json.loads(account.client("secretsmanager", HOME).get_secret_value(SecretId=arn)["SecretString"])
    return secret["username"], secret["password"]


@contextmanager
def pods(account: Account, url: str) -> Iterator[None]:
    """The CronJob at work: its pod runs whenever there is a request; url is Connect's."""
    manifests = account.release(HOME, "lake-dev", "kafka-connect").manifests
    pod = only(manifests, "CronJob")["spec"]["jobTemplate"]["spec"]["template"]
    maps = of_kind(manifests, "ConfigMap")
    bucket = lake_of("dev").steps.bucket()
    path = os.pathsep.join([str(NODE), str(Path(sys.executable).parent), os.environ["PATH"]])
    variables = {**account.variables(HOME), "PATH": path}
    over = threading.Event()

    def work() -> None:
        while not over.wait(0.05):
            if objects(account, bucket):
                with tempfile.TemporaryDirectory() as folder:
                    run_pod(pod, maps, url, Path(folder), variables)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def objects(account: Account, bucket: str) -> list[str]:
    found = account.client("s3", HOME).list_objects_v2(Bucket=bucket, Prefix=f"{REQUESTS}/")
    return [one["Key"] for one in found.get("Contents", [])]
