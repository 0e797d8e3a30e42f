"""The processes of one lake. They are found by their environment, so that no other process is ever stopped."""

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
GONE_WITHIN_S = 8.0  # for processes that have a signal to end
GONE = (psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess)


def of_lake(data: Path) -> list[psutil.Process]:
    """Every live process that a supervisor of this data folder started, and the supervisors."""
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
    """The service that a process belongs to or supervises; "" if there is none, None if the process has ended."""
    try:
        return SERVER if _is_server(process) else str(process.environ().get(SERVICE, ""))
    except GONE:
        return None


def stop_orphans(found: list[psutil.Process], within_s: float) -> None:
    """Ends processes without a supervisor: PostgreSQL last, when it has no clients to wait for.

    The others are killed soon: Kafka and Connect would wait for each other, and neither loses data.
    """
    servers = [process for process in found if _is_server(process)]
    stop([process for process in found if process not in servers], AT_ONCE_S)
    stop(servers, within_s)


def stop(found: list[psutil.Process], within_s: float) -> None:
    """Sends a signal to end, then kills the processes that are left after within_s seconds."""
    for process in found:
        _ask(process)
    _kill(_left(found, within_s), within_s)


def kill_servers(data: Path) -> None:
    """Kills the processes that a killed PostgreSQL left: a backend works until the end of its transaction."""
    _kill([process for process in of_lake(data) if _is_server(process)], GONE_WITHIN_S)


def _kill(found: list[psutil.Process], within_s: float) -> None:
    for process in found:
        with suppress(*GONE):
            process.kill()
    _left(found, within_s)


def _ask(process: psutil.Process) -> None:
    """Sends a signal to end. Of PostgreSQL only the first process gets it, and ends the others.

    The checkpointer would take SIGINT as "all others have ended" (since 18), and end the log that others still write:
    it panics, or their new commits are lost and their LSNs are used twice.
    """
    with suppress(*GONE):
        if not _is_server(process):
            process.terminate()
        elif not _is_child(process):
            process.send_signal(signal.SIGINT)  # SIGTERM means: end after the last client has left


def _is_child(process: psutil.Process) -> bool:
    """True if another process of PostgreSQL started this one; after its end only the title shows it."""
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
    """Name and pid, "java (pid 12)", without arguments, which could contain a secret."""
    name = _name(process)
    return f"{name} (pid {process.pid})" if name else f"pid {process.pid}"


def names(found: list[psutil.Process]) -> list[str]:
    """The names of the processes that still run, sorted, each once."""
    return sorted({_name(process) for process in found} - {""})


def _name(process: psutil.Process) -> str:
    """ "" if it has ended."""
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
