"""The jobs of the lake on this machine: those that run for ever under their supervisors, and the logs of the others."""

import time
from functools import partial
from pathlib import Path
from typing import Any

from lake.clients.stream_status import silent_s
from lake.config.environment import Environment
from lake.config.errors import BadInput, LakeError
from lake.config.names import no_tables, refuse_unknown
from lake.config.report import Report
from lake.deployments.deployment import PROGRESS, Job
from lake.local import status
from lake.local.sales import SalesStream, arguments, registry_login, submitted
from lake.local.spark_job import last_log, last_progress, run_job
from lake.local.stack import Stack
from lake.rendering.sales import NO_OPTIONS, STREAMING, SalesOptions, check, check_ends

STREAM = "stream"
STATES = {"running": "running", "orphaned": "running", "starting": "starting", "waiting": "absent"}


def of_services(home: Environment, services: list[status.ServiceStatus]) -> list[Job]:
    """The continuous jobs, by the status of their services."""
    (service,) = [one for one in services if one.name == STREAM]
    state = STATES.get(service.state, "stopped")
    stream = Job(STREAM, True, state, reported_s=silent_s(home) or None, reason=service.reason)
    found = {one.name: one for one in services}
    return [stream, *(_of_sales(one, found[one.name]) for one in submitted(home) if one.name in found)]


def _of_sales(job: SalesStream, service: status.ServiceStatus) -> Job:
    said = job.reported()
    silent = max(0.0, time.time() - said["at"]) if said else None
    return Job(
        job.name,
        True,
        STATES.get(service.state, "stopped"),
        reported_s=silent,
        reason=service.reason or said.get("reason", ""),
        progress={key: said[key] for key in PROGRESS if key in said},
    )


class LocalJobs:
    """The streaming job, and those about sales that were submitted."""

    def __init__(self, home: Environment) -> None:
        self._home, self._stack = home, Stack(home)

    def all(self) -> list[Job]:
        return of_services(self._home, status.services(self._home))

    def run(self, name: str, options: SalesOptions, report: Report) -> dict[str, Any]:
        check_ends(name, options)
        words = arguments(self._home, name, options)
        return run_job(self._home, name, words, registry_login(self._home), watch=partial(_say_progress, report, name))

    def submit(self, name: str, report: Report, options: SalesOptions = NO_OPTIONS) -> Job:
        refuse_unknown("continuous job", [name], [STREAM, *STREAMING])
        check(name, options)
        if name in STREAMING:
            return self._submit_sales(SalesStream(self._home, name), options)
        if self._stack.runs() and not self._stack.service(name).wanted():
            raise no_tables()
        self._stack.restart(name)
        return self.all()[0]

    def _submit_sales(self, job: SalesStream, options: SalesOptions) -> Job:
        if not self._stack.runs():
            raise BadInput("this lake does not run", str(self._home.data), "run: lake up")
        if job.submission.exists():
            self._stack.stop(job.name)
        if options.anew:
            job.forget()
        job.submit(options)
        Stack(self._home).start(job.name)
        return self._named(job.name)

    def stop(self, name: str, report: Report) -> Job:
        refuse_unknown("continuous job", [name], [STREAM, *(one.name for one in submitted(self._home))])
        if name in STREAMING:
            return self._withdraw(SalesStream(self._home, name))
        self._stack.supervisors[name].stop()
        job = self._named(name)
        if job.state not in ("stopped", "absent"):
            raise LakeError(f"{name} runs without its supervisor, which was killed", "lake jobs stop", "run: lake up")
        return job

    def _withdraw(self, job: SalesStream) -> Job:
        self._stack.stop(job.name)
        job.withdraw()
        return Job(job.name, True, "stopped")

    def _named(self, name: str) -> Job:
        return next(one for one in self.all() if one.name == name)

    def log(self, name: str, lines: int) -> list[str]:
        path = self._home.log(name) if name in (STREAM, *STREAMING) else last_log(self._home, name)
        if path is None or not path.exists():
            raise BadInput(f"{name} has no log", str(self._home.logs), "see: lake jobs list")
        return path.read_text(errors="replace").splitlines()[-lines:]


def _say_progress(report: Report, name: str, log: Path) -> None:
    """Reports how far a producer is."""
    if line := last_progress(log, name):
        report(line)
