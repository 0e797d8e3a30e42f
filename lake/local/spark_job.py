"""Runs a Spark job to its end: its output in a log, its result as JSON."""

import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from lake.config.environment import LOOPBACK, Environment
from lake.config.errors import BadInput, LakeError
from lake.config.files import last_lines
from lake.config.names import no_tables
from lake.local import iam
from lake.local.kafka import Kafka
from lake.local.metastore import Metastore
from lake.local.postgres import Postgres
from lake.local.registry import Registry
from lake.local.s3 import S3
from lake.local.service import Service
from lake.local.spark_submit import S3A, SHORT_JOB, spark_environment, spark_submit_command
from lake.local.stack import answers
from lake.rendering import sales
from lake.rendering.pipeline import pipeline_path

KILL_AFTER_S = 10
WATCH_S = 0.5
Watch = Callable[[Path], None]  # is called with the path of the log while a job runs
NOTHING: Mapping[str, str] = MappingProxyType({})
REFUSED = 2
LOG_LINES = 5
LOGS = 10  # of the last runs of a job are kept
END_BYTES = 2**16  # at the end of a log, where the last line of progress is searched
# A user waits: by default S3A retries for many minutes if the server is down.
IMPATIENT = {
    f"{S3A}.attempts.maximum": "3",
    f"{S3A}.retry.limit": "3",
    f"{S3A}.connection.establish.timeout": "5000",
    f"{S3A}.connection.timeout": "60000",
}


class Job(NamedTuple):
    """command: as typed by the user. needs: services that must answer. now: what to do if the input is refused.

    script: of spark_jobs/, "" where it is named as the job. reads_pipeline: it gets the pipeline file.
    """

    command: str
    needs: tuple[type[Service], ...]
    conf: Mapping[str, str] = IMPATIENT
    now: str = "correct it"
    script: str = ""
    reads_pipeline: bool = True


def _of_sales(name: str) -> Job:
    needs = (Kafka, S3, Registry) if "avro" in name else (Kafka, S3)
    settings = {**IMPATIENT, **sales.SETTINGS}
    return Job(f"lake jobs run {name}", needs, settings, script=sales.SCRIPT, reads_pipeline=False)


JOBS = {
    "query": Job("lake sql", (S3, Metastore), now="correct it; lake sql 'show databases' lists what there is"),
    "verify": Job("lake verify", (Postgres, Kafka, S3, Metastore)),
    "ghosts": Job("lake resnapshot", (Postgres, Kafka, S3)),
    "refine": Job("lake refine", (S3, Metastore), NOTHING),  # it writes, and may survive an outage
    "topics": Job("lake topics", (Kafka,)),
    "quarantined": Job("lake quarantine", (S3,)),
    "streamer": Job("lake streamer run", (S3, Metastore), NOTHING),  # it writes, and may outlast an outage
    **{name: _of_sales(name) for name in sales.ENDING},
}


def run_job(
    home: Environment,
    name: str,
    args: Sequence[str],
    secrets: Mapping[str, str] = NOTHING,
    conf: Mapping[str, str] = NOTHING,
    watch: Watch = lambda log: None,
) -> dict[str, Any]:
    """The content of the job's --output file.

    The job is one of JOBS; secrets reach it by environment only, conf overrides Spark's settings,
    and watch is called with the path of its log while it runs. BadInput when a service that it needs does not answer,
    or when it refused its input (exit code 2), LakeError with the last lines of its log for any other failure. Ctrl-C
    stops it.
    """
    job, config = JOBS[name], pipeline_path(home)
    if job.reads_pipeline and not config.exists():
        raise no_tables()
    for service in (kind(home) for kind in job.needs):
        if not answers(service):
            raise BadInput(f"{service.name} does not answer", f"{LOOPBACK}:{service.port}", "run: lake up")
    log = new_log(home, name)
    (home.data / "tmp").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="lake-") as folder:
        output = Path(folder) / "result.json"
        pipeline = ["--config", config.as_uri()] if job.reads_pipeline else []
        arguments = [*pipeline, "--output", output.as_uri(), *args]
        command = spark_submit_command(home, job.script or name, arguments, {**SHORT_JOB, **job.conf, **conf})
        environment = spark_environment(home, {**iam.variables(home, iam.JOBS), **secrets})
        return _result(name, _run(command, environment, log, watch), output, log)


def _run(command: list[str], environment: dict[str, str], path: Path, watch: Watch) -> int:
    with path.open("wb") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        try:
            while process.poll() is None:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(WATCH_S)
                watch(path)
            return process.returncode
        finally:
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(KILL_AFTER_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _result(name: str, code: int, output: Path, log: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(output.read_text(encoding="utf-8")) if output.exists() else {}
    if code == REFUSED and "error" in content:
        raise BadInput(content["error"], JOBS[name].command, JOBS[name].now)
    if not content:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
        errors = [line for line in lines if "Error" in line or "Exception" in line]
        tail = " / ".join((errors or lines)[-LOG_LINES:])
        raise LakeError(f"{JOBS[name].command} ended with code {code}: {tail}", str(log), "see: lake status")
    return content


def new_log(home: Environment, name: str) -> Path:
    """The log of one run of a job: a new file, because another run may be active."""
    for old in _logs(home, name)[: 1 - LOGS]:
        old.unlink(missing_ok=True)
    return home.logs / f"job-{name}-{time.time_ns()}-{os.getpid()}.log"


def last_log(home: Environment, name: str) -> Path | None:
    """The log of the last run of a job; None if there was none."""
    return next(reversed(_logs(home, name)), None)


def _logs(home: Environment, name: str) -> list[Path]:
    return sorted(home.logs.glob(f"job-{name}-*.log"))


def last_progress(log: Path, name: str) -> str:
    """The last line of progress, which starts with the name of the job; "" if the end of the log has none."""
    lines = reversed(last_lines(log, END_BYTES))
    return next((line for line in lines if line.startswith(f"{name}: ")), "")


def objects(content: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows of a result by the names of their columns. BadInput if two have the same name."""
    columns = content["columns"]
    twice = next((name for name in columns if columns.count(name) > 1), None)
    if twice is not None:
        raise BadInput(f"two columns are named {twice}", "lake sql --json", "give them different names with AS")
    return [dict(zip(columns, row, strict=True)) for row in content["rows"]]
