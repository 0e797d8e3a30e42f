"""The jobs of the lake on this machine: the streaming job under its supervisor, and the logs of the others."""

from lake.clients.stream_status import silent_s
from lake.config.environment import Environment
from lake.config.errors import BadInput, LakeError
from lake.config.names import no_tables, refuse_unknown
from lake.config.report import Report
from lake.deployments.deployment import Job
from lake.local import status
from lake.local.spark_job import last_log
from lake.local.stack import Stack

STREAM = "stream"
STATES = {"running": "running", "orphaned": "running", "starting": "starting", "waiting": "absent"}


def of_services(home: Environment, services: list[status.ServiceStatus]) -> list[Job]:
    """The continuous jobs, by the status of their services."""
    (service,) = [one for one in services if one.name == STREAM]
    state = STATES.get(service.state, "stopped")
    return [Job(STREAM, True, state, reported_s=silent_s(home) or None, reason=service.reason)]


class LocalJobs:
    """The streaming job is the only continuous one."""

    def __init__(self, home: Environment) -> None:
        self._home, self._stack = home, Stack(home)

    def all(self) -> list[Job]:
        return of_services(self._home, status.services(self._home))

    def submit(self, name: str, report: Report) -> Job:
        refuse_unknown("continuous job", [name], [STREAM])
        if self._stack.runs() and not self._stack.service(name).wanted():
            raise no_tables()
        self._stack.restart(name)
        return self.all()[0]

    def stop(self, name: str, report: Report) -> Job:
        refuse_unknown("continuous job", [name], [STREAM])
        self._stack.supervisors[name].stop()
        (job,) = self.all()
        if job.state not in ("stopped", "absent"):
            raise LakeError(f"{name} runs without its supervisor, which was killed", "lake jobs stop", "run: lake up")
        return job

    def log(self, name: str, lines: int) -> list[str]:
        path = self._home.log(STREAM) if name == STREAM else last_log(self._home, name)
        if path is None or not path.exists():
            raise BadInput(f"{name} has no log", str(self._home.logs), "see: lake jobs list")
        return path.read_text(errors="replace").splitlines()[-lines:]
