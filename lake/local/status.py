"""The status of each service."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from lake.clients import stream_status
from lake.clients.table_status import STALE_S
from lake.config.environment import Environment
from lake.config.errors import BadInput, LakeError
from lake.config.versions import EMR_RELEASES
from lake.local import processes
from lake.local.last_words import last_error, why_it_ended
from lake.local.service import Service
from lake.local.stack import SERVICES, Stack, answers
from lake.local.supervisor import BACKOFF, RUNNING, State, Supervisor

STREAM = "stream"
TOLD_S = 300  # how long after a new start it is told why the one before ended
ADVICE = {
    "orphaned": "its supervisor has ended, but its processes run: lake up stops and starts them",
    "down": "start with: lake up",
}


@dataclass(frozen=True)
class ServiceStatus:
    """One service; uptime_s and rss_bytes (resident memory of its process tree) are 0 unless it runs."""

    name: str
    state: str
    pid: int
    uptime_s: int
    rss_bytes: int
    reason: str = ""


@dataclass(frozen=True)
class Pairing:
    """The Spark and the Hudi of the lake's release. running: the Spark of the streaming job, "" if it does not run."""

    release: str
    spark: str
    hudi: str
    running: str


def pairing(home: Environment, lines: list[ServiceStatus]) -> Pairing:
    """What the lake runs on, and what its streaming job was started with; lines: all services."""
    wanted = EMR_RELEASES[home.release]
    runs = any(line.name == "stream" and line.state == "running" for line in lines)
    return Pairing(home.release, wanted.spark, wanted.hudi, stream_status.spark(home) if runs else "")


def services(home: Environment) -> list[ServiceStatus]:
    """All services in the order of the stack.

    orphaned: it runs without its supervisor. silent: its process runs but does not answer.
    """
    stack = Stack(home)
    if not stack.runs():
        left = {processes.service_of(process) for process in processes.of_lake(home.data)}
        return [_unsupervised(service, service.name in left) for service in stack.services]
    with ThreadPoolExecutor(max_workers=len(SERVICES)) as asking:  # a service that is cut off takes seconds
        return list(asking.map(_asked, stack.supervisors.values()))


def healthy(lines: list[ServiceStatus]) -> bool:
    """True if all that should run runs."""
    return all(line.state in ("running", "waiting") for line in lines)


def _asked(supervisor: Supervisor) -> ServiceStatus:
    service, state = supervisor.service, supervisor.state()
    if state.pid == 0 and not service.wanted():
        return ServiceStatus(service.name, "waiting", 0, 0, 0, "starts with: lake apply")
    if supervisor.pid() is None:
        return _unsupervised(service, bool(processes.of_service(supervisor.home.data, service.name)))
    log = supervisor.home.log(service.name)
    line = _line(state, log)
    problem = _problem(service, log) if line.state == "running" else ""
    if problem:
        return replace(line, state="silent", reason=problem)
    return replace(line, reason=_ended(supervisor.home, line)) if service.name == STREAM else line


def _ended(home: Environment, line: ServiceStatus) -> str:
    """Why the streaming job ends, which may take minutes, or why it had to start again a while ago."""
    is_told = stream_status.silent_s(home) > STALE_S or line.uptime_s < TOLD_S
    why = why_it_ended(home.log(STREAM), 2 * TOLD_S) if is_told and line.state == "running" else ""
    return f"it ends, and starts again: {why}" if why else line.reason


def _said(log: Path) -> str:
    """The last error of a log, after a reason. Read only for a reason: a log has much to read."""
    error = last_error(log)
    return f": {error}" if error else ""


def _unsupervised(service: Service, runs: bool) -> ServiceStatus:
    state = "orphaned" if runs else "down"
    return ServiceStatus(service.name, state, 0, 0, 0, ADVICE[state])


def _problem(service: Service, log: Path) -> str:
    """Why it does not answer; "" if it answers."""
    try:
        silent = not answers(service)
    except LakeError as error:
        return str(error)
    return f"its process runs and does not answer{_said(log)}; see: lake logs {service.name}" if silent else ""


def _line(state: State, log: Path) -> ServiceStatus:
    if state.state == BACKOFF:
        reason = f"it ends within a second after each start{_said(log)}; see: lake logs {state.name}"
        return ServiceStatus(state.name, "failing", 0, 0, 0, reason)
    if state.state != RUNNING:
        return ServiceStatus(state.name, state.state.lower(), state.pid, 0, 0, state.reason + _said(log))
    uptime = max(0, int(time.time()) - state.started_at)
    return ServiceStatus(state.name, "running", state.pid, uptime, processes.memory(state.pid))


def refuse_stopped(home: Environment) -> None:
    """BadInput if the streaming job does not run. A starting job is accepted: it will serve requests."""
    if not any(line.name == "stream" and line.state in ("running", "starting") for line in services(home)):
        raise BadInput("the streaming job, which would do it, does not run", "stream", "run: lake up")
