"""The processes of one lake, found by what only they carry, so that nothing else is ever stopped."""

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

import psutil

# Set in a supervisor's environment and inherited by all that it starts; the values are the data folder and a service.
MARK = "LAKE_SUPERVISED"
SERVICE = "LAKE_SERVICE"
SERVER = "postgres"  # the name of its processes, its service and its folder
POLL_S = 0.05
AT_ONCE_S = 0.5
GONE_WITHIN_S = 8.0  # for processes that were asked to end
GONE = (psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess)


def of_lake(data: Path) -> list[psutil.Process]:
    """Every live process that a supervisor of this data folder started, the supervisors too."""
    return [process for process in psutil.process_iter() if process.pid != os.getpid() and _belongs(process, data)]


def _belongs(process: psutil.Process, data: Path) -> bool:
    try:
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        if process.environ().get(MARK) == str(data):
            return True
        # PostgreSQL overwrites its environment with its process title; it works inside its data folder.
        return _is_server(process) and process.cwd() == str(data / SERVER)
    except GONE:
        return False


def of_service(data: Path, name: str) -> list[psutil.Process]:
    """The processes of one service, its supervisor included."""
    return [process for process in of_lake(data) if service_of(process) == name]


def service_of(process: psutil.Process) -> str | None:
    """The service that a process of a lake is part of, or supervises; '' when it is of none, None once it has ended."""
    try:
        return SERVER if _is_server(process) else str(process.environ().get(SERVICE, ""))
    except GONE:
        return None


def stop_orphans(found: list[psutil.Process], within_s: float) -> None:
    """End processes without a supervisor: PostgreSQL last, once it has no client that it would wait for.

    The others are killed soon: Kafka and Connect wait for each other, and none of them loses data.
    """
    servers = [process for process in found if _is_server(process)]
    stop([process for process in found if process not in servers], AT_ONCE_S)
    stop(servers, within_s)


def stop(found: list[psutil.Process], within_s: float) -> None:
    """End processes: ask first, then kill what is left after within_s seconds."""
    for process in found:
        _ask(process)
    _kill(_left(found, within_s), within_s)


def kill_servers(data: Path) -> None:
    """End what a killed PostgreSQL of this data folder left: a backend works on until its transaction has ended."""
    _kill([process for process in of_lake(data) if _is_server(process)], GONE_WITHIN_S)


def _kill(found: list[psutil.Process], within_s: float) -> None:
    for process in found:
        with suppress(*GONE):
            process.kill()
    _left(found, within_s)


def _ask(process: psutil.Process) -> None:
    """Of PostgreSQL only its first process, which ends the others.

    Its checkpointer takes SIGINT as "all others have ended" (since 18), and ends the log that others still write: it
    panics, or what they commit now is gone, and its numbers are given again.
    """
    with suppress(*GONE):
        if not _is_server(process):
            process.terminate()
        elif not _is_child(process):
            process.send_signal(signal.SIGINT)  # SIGTERM would be "once the last client has gone"


def _is_child(process: psutil.Process) -> bool:
    """Whether a PostgreSQL process was started by another one: the title says so once that one has ended."""
    parent = process.parent()
    return "".join(process.cmdline()).startswith("postgres: ") or (parent is not None and _is_server(parent))


def _is_server(process: psutil.Process) -> bool:
    return _name(process) == SERVER


def _left(found: list[psutil.Process], within_s: float) -> list[psutil.Process]:
    """The processes that still run after within_s seconds. A zombie has ended."""
    end = time.monotonic() + within_s
    while (left := [process for process in found if _runs(process)]) and time.monotonic() < end:
        time.sleep(POLL_S)
    return left


def _runs(process: psutil.Process) -> bool:
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except GONE:
        return False


def describe(process: psutil.Process) -> str:
    """'java kafka.Kafka (pid 12)': enough to recognise it, without arguments that could hold a secret."""
    name = _name(process)
    return f"{name} (pid {process.pid})" if name else f"pid {process.pid}"


def names(found: list[psutil.Process]) -> list[str]:
    """The names of the processes that still run, sorted, each once."""
    return sorted({_name(process) for process in found} - {""})


def _name(process: psutil.Process) -> str:
    """'' once it has ended."""
    try:
        return str(process.name())
    except GONE:
        return ""


def memory(pid: int) -> int:
    """Resident bytes of a process and its children, memory that they share counted once."""
    total, shared = 0, 0
    try:
        root = psutil.Process(pid)
        for process in [root, *root.children(recursive=True)]:
            info = process.memory_info()
            total, shared = total + info.rss - info.shared, max(shared, info.shared)
    except GONE:
        return total
    return total + shared
