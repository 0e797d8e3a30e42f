"""The jobs about sales on this machine: those that end as any job, and those that stream as services that are added."""

import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lake.config.environment import Environment
from lake.config.files import read_json, replace_json
from lake.local import iam
from lake.local.service import Program, Service
from lake.local.spark_submit import spark_environment, spark_submit_command
from lake.local.stream import CONF, INHERITED
from lake.rendering import sales
from lake.rendering.connector import REGISTRY_WRITER
from lake.rendering.kafka_login import local_job
from lake.rendering.sales import SalesOptions, SalesPlaces


def places(home: Environment, name: str) -> SalesPlaces:
    """The places of the lake on this machine, for one job."""
    return SalesPlaces(
        kafka=local_job(home, sales.group(name)),
        partitions=home.kafka.partitions,
        registry=f"{home.registry}/apis/ccompat/v7",
        results=f"{home.bucket_uri}/{sales.FOLDER}",
        checkpoints=_checkpoints(home).as_uri(),
        state=(home.data / "jobs").as_uri(),
    )


def arguments(home: Environment, name: str, options: SalesOptions) -> list[str]:
    """The arguments of a job, except --output."""
    uris = {key: path.as_uri() for key, path in sales.files(name, options).items()}
    return sales.arguments(name, options, places(home, name), uris)


def registry_login(home: Environment) -> dict[str, str]:
    """The variables with which a job may write schemas."""
    return {"LAKE_REGISTRY_USER": REGISTRY_WRITER, "LAKE_REGISTRY_PASSWORD": home.secrets.registry_writer}


class SalesStream(Service):
    """One job that streams. It is a service of the lake from its submission until it is stopped by name."""

    needs = ("kafka", "s3")
    arrived = "started; see: lake jobs status"

    def __init__(self, home: Environment, name: str) -> None:
        self.name = name
        super().__init__(home)

    @property
    def status(self) -> Path:
        """The file in which it says how far it is."""
        return self.home.data / "jobs" / self.name / "status.json"

    @property
    def submission(self) -> Path:
        """The file with its options. While it is there, `lake up` starts the job."""
        return self.home.rendered / "jobs" / f"{self.name}.json"

    def submit(self, options: SalesOptions) -> None:
        self.submission.parent.mkdir(parents=True, exist_ok=True)
        replace_json(self.submission, asdict(options))

    def withdraw(self) -> None:
        self.submission.unlink(missing_ok=True)

    def forget(self) -> None:
        """Forgets how far it is: it reads from the first message on. It must not run."""
        shutil.rmtree(_checkpoints(self.home) / self.name, ignore_errors=True)
        self.status.unlink(missing_ok=True)

    def reported(self) -> dict[str, Any]:
        """Its last report; {} before the first one."""
        return dict(read_json(self.status) or {})

    def secrets(self) -> dict[str, str]:
        return {**iam.variables(self.home, iam.JOBS), **registry_login(self.home)}

    def prepare(self) -> list[str]:
        (self.home.data / "tmp").mkdir(parents=True, exist_ok=True)
        return []

    def program(self) -> Program:
        output = ["--output", self.status.with_name("result.json").as_uri()]
        options = SalesOptions(**read_json(self.submission))
        words = [*arguments(self.home, self.name, options), *output]
        command = spark_submit_command(self.home, sales.SCRIPT, words, {**CONF, **sales.SETTINGS})
        environment = spark_environment(self.home, {})
        return Program(command, self.home.data, {name: environment[name] for name in INHERITED})

    def ready(self) -> bool:
        """Always true: what it does is in its report."""
        return True


def submitted(home: Environment) -> list[SalesStream]:
    """The jobs that stream, or would if the lake ran."""
    found = [SalesStream(home, name) for name in sales.STREAMING]
    return [one for one in found if one.submission.exists()]


def _checkpoints(home: Environment) -> Path:
    return home.data / "checkpoints" / sales.FOLDER
