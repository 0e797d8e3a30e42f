"""What runs now: one line per service."""

import time
from dataclasses import asdict, dataclass

from lake.local import processes
from lake.local.home import Home
from lake.local.stack import Stack
from lake.local.supervisor import RUNNING, State


@dataclass(frozen=True)
class ServiceStatus:
    """One service; uptime_s and rss_bytes (resident memory of its process tree) are 0 unless it runs."""

    name: str
    state: str
    pid: int
    uptime_s: int
    rss_bytes: int
    reason: str = ""


def services(home: Home) -> list[ServiceStatus]:
    """All services in the order of the stack; 'orphaned' ones run without their supervisor."""
    stack = Stack(home)
    if stack.supervisor.pid() is None:
        state = "orphaned" if processes.of_lake(home.data) else "down"
        return [ServiceStatus(service.name, state, 0, 0, 0, _advice(state)) for service in stack.services]
    states = stack.supervisor.states()
    lines = [_line(states[service.name]) for service in stack.services if service.name in states]
    waiting = {service.name for service in stack.services if not service.wanted()}
    return [_waiting(line) if line.name in waiting and line.pid == 0 else line for line in lines]


def healthy(lines: list[ServiceStatus]) -> bool:
    """Whether all that should run runs."""
    return all(line.state in ("running", "waiting") for line in lines)


def as_json(lines: list[ServiceStatus]) -> list[dict[str, object]]:
    return [asdict(line) for line in lines]


def _line(state: State) -> ServiceStatus:
    if state.state != RUNNING:
        return ServiceStatus(state.name, state.state.lower(), state.pid, 0, 0, state.reason)
    uptime = max(0, int(time.time()) - state.started_at)
    return ServiceStatus(state.name, "running", state.pid, uptime, processes.memory(state.pid))


def _waiting(line: ServiceStatus) -> ServiceStatus:
    return ServiceStatus(line.name, "waiting", 0, 0, 0, "starts with: lake apply")


def _advice(state: str) -> str:
    if state == "orphaned":
        return "the supervisor is gone and left processes behind: lake up stops them and starts anew"
    return "start with: lake up"
