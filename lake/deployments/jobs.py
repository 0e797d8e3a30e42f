"""The jobs of a lake: those that never end, and those that were run to their end."""

from dataclasses import dataclass
from typing import Protocol

from lake.clients.stream_status import silent_s
from lake.config.errors import BadInput, LakeError
from lake.config.home import Home
from lake.deployments.deployment import Say
from lake.local import status
from lake.local.spark_job import last_log
from lake.local.stack import Stack

STREAM = "stream"


@dataclass(frozen=True)
class Job:
    """state: running, starting, silent, stopped or absent of a continuous job; EMR's own word of another.

    id: the step that started it last, "" here and where there was none; reported_s: since it last said something.
    """

    name: str
    continuous: bool
    state: str
    id: str = ""
    reported_s: float | None = None
    reason: str = ""


class Jobs(Protocol):
    """Of one lake."""

    def all(self) -> list[Job]: ...

    def submit(self, name: str, say: Say) -> Job:
        """Starts a continuous job, in place of the one that runs; returns once it is accepted."""

    def stop(self, name: str, say: Say) -> Job:
        """Ends a continuous job, or cancels a step by its name or id; returns once it is gone."""

    def log(self, name: str, lines: int) -> list[str]: ...


def of_services(home: Home, lines: list[status.ServiceStatus]) -> list[Job]:
    """Those that a supervisor keeps, by what is known of its service."""
    (line,) = [one for one in lines if one.name == STREAM]
    states = {"running": "running", "orphaned": "running", "starting": "starting", "waiting": "absent"}
    state = states.get(line.state, "stopped")
    return [Job(STREAM, True, state, reported_s=silent_s(home) or None, reason=line.reason)]


class LocalJobs:
    """The streaming job under its supervisor."""

    def __init__(self, home: Home) -> None:
        self._home, self._stack = home, Stack(home)

    def all(self) -> list[Job]:
        return of_services(self._home, status.services(self._home))

    def submit(self, name: str, say: Say) -> Job:
        self._known(name)
        if not self._stack.runs():
            raise BadInput("this lake does not run", str(self._home.data), "run: lake up")
        if not self._stack.service(name).wanted():
            raise BadInput("the lake has no tables yet", "the pipeline file", "run: lake apply")
        self._stack.start(name)
        return self.all()[0]

    def stop(self, name: str, say: Say) -> Job:
        self._known(name)
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

    def _known(self, name: str) -> None:
        if name != STREAM:
            raise BadInput(f"there is no continuous job '{name}'", "command line", f"choose: {STREAM}")
