"""HoodieStreamer as jobs of the deployment: really run by the emulated EMR, on files in the bucket bronze."""

import hashlib
import time
import zipfile
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from lake.aws.environment import load_aws_environment
from lake.config.definition import load_databases
from lake.deployments import account as polling
from lake.deployments.aws import AwsDeployment
from lake.deployments.deployment import Job
from tests.clocks import HANG_S
from tests.emulated_account.account import Account
from tests.emulated_account.archived import SECOND, Registry, Row, put_file, registry, schema
from tests.emulated_account.command import ROOT, Cdk
from tests.emulated_account.machine import Chosen, Node
from tests.emulated_account.operator import as_operator, quiet
from tests.emulated_account.story import HOME, succeeded
from tests.synth.synthesis import synthesize

LINKED = ("build", "jars", "node_modules", "helm", "connector_configs", "databases", "pom.xml", "spark_jobs")
LOADED: list[Row] = [(1, "Ai", "Chinese", "false"), (2, "Bo", None, "false"), (1, "Ai Weiwei", "Chinese", "false")]
CHANGED: list[Row] = [(2, "Bo", "Danish", "false"), (3, "Cy", "French", "false"), (1, "Ai Weiwei", "Chinese", "true")]
GROWN: list[Row] = [(4, "Di", "Dutch", "false")]
KIND = {"archive": "cow", "s3_sink": "mor"}  # the type of table that each layout is tried with


Result = dict[str, Any]
Seen = tuple[list[Job], Result, Result, Result, Job]


@dataclass(frozen=True)
class Followed:
    """What was seen: jobs after the deployment and after the stop; results of the table after load, change, DDL."""

    deployed: list[Job]
    loaded: Result
    changed: Result
    grown: Result
    stopped: Job
    left: list[str]
    rows: list[tuple[Any, ...]]


def follow(account: Account, folder: Path, layout: str, read: Callable[[Path], list[tuple[Any, ...]]]) -> Followed:
    """read: the rows of the table whose files are in a folder."""
    described(folder, layout)
    cdk, lake = Cdk(account, HOME), synthesize("dev", folder, folder)
    succeeded(cdk.bootstrap())
    work = folder / "node"
    work.mkdir()
    with registry() as schemas, as_operator(account), pytest.MonkeyPatch.context() as patch:
        patch.setattr(polling, "POLL_S", 0.2)
        node = Node({**account.variables(HOME), "http_proxy": schemas.url, "no_proxy": "127.0.0.1"}, work)
        account.emr.machine = Chosen("streamer.", node)
        with closing(node):
            succeeded(cdk.deploy(lake.folder))
            deployment = AwsDeployment(load_aws_environment(folder, "dev"), load_databases(folder))
            seen = _play(account, deployment, layout, schemas)
            left = node.applications(f"lake-{job(layout)}")
        rows = read(copied(account, deployment, folder, layout))
    succeeded(cdk.destroy(lake.folder))
    return Followed(*seen, left, rows)


def _play(account: Account, deployment: AwsDeployment, layout: str, schemas: Registry) -> Seen:
    s3, bucket = account.client("s3", HOME), deployment.steps.outputs().places["bronze"]
    put_file(s3, bucket, layout, 0, LOADED)
    deployed = [one for one in deployment.jobs.all() if one.continuous]
    loaded = reported(deployment, layout, lambda table: table["operation"] == "BULK_INSERT")
    put_file(s3, bucket, layout, len(LOADED), CHANGED)
    changed = reported(deployment, layout, lambda table: table["commits"] >= 2 and table["state"] == "running")
    schemas.versions.append(schema(SECOND))
    put_file(s3, bucket, layout, len(LOADED) + len(CHANGED), GROWN, born=[1926])
    grown = reported(deployment, layout, lambda table: table["rows"] > changed["rows"] and caught_up(table))
    return deployed, loaded, changed, grown, deployment.jobs.stop(job(layout), quiet)


def caught_up(table: dict[str, Any]) -> bool:
    """What was read without the new column is read again by then."""
    return bool(table.get("versions") == 2)


def reported(deployment: AwsDeployment, layout: str, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """The result of the table in the status of the job, once it is as wanted."""
    ends = time.monotonic() + HANG_S
    while time.monotonic() < ends:
        content = deployment.steps.report(job(layout), deployment.steps.outputs())
        for table in content.get("tables", {}).values():
            if wanted(table):
                return dict(table)
            assert table["state"] != "failed", table
        time.sleep(polling.POLL_S)
    raise AssertionError(f"not as wanted: {content}")


def job(layout: str) -> str:
    return f"streamer.moma.artists.{KIND[layout]}"


def described(folder: Path, layout: str) -> None:
    """dev with the job, and the sink connector where its layout is read."""
    for name in LINKED:
        (folder / name).symlink_to(ROOT / name)
    content = yaml.safe_load((ROOT / "environments/dev.yaml").read_text())
    streamer = {"source": layout, "tables": ["moma.artists"], "types": [KIND[layout]], "interval_s": 1}
    content["processing"] = {"jobs": ["stream", "streamer"], "streamer": streamer}
    if layout == "s3_sink":
        with zipfile.ZipFile(folder / "s3.zip", "w") as archive:
            archive.writestr("confluentinc-kafka-connect-s3-10.0.0/lib/a.jar", "a")
        digest = hashlib.sha256((folder / "s3.zip").read_bytes()).hexdigest()
        content["connect"] = {"s3_sink": {"archive": "s3.zip", "sha256": digest}}
    (folder / "environments").mkdir()
    (folder / "environments/dev.yaml").write_text(yaml.safe_dump(content))


def copied(account: Account, deployment: AwsDeployment, folder: Path, layout: str) -> Path:
    """The files of the table, from the bucket silver."""
    s3, bucket = account.client("s3", HOME), deployment.steps.outputs().places["silver"]
    prefix, target = f"streamer/moma/artists_{KIND[layout]}/", folder / "table"
    for page in s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix):
        for one in page.get("Contents", []):
            if not one["Key"].endswith("/"):
                path = target / one["Key"].removeprefix(prefix)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(s3.get_object(Bucket=bucket, Key=one["Key"])["Body"].read())
    return target
