"""The preconditions of a start. They are checked first, so that a refusal changes nothing."""

import os
import shutil
import socket
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import psutil

from lake.config.environment import LOOPBACK, Environment
from lake.config.errors import BadInput
from lake.local.processes import describe
from lake.local.service import Service

FREE_BYTES = 2 * 1024**3


def check(home: Environment, services: Sequence[Service], own: set[int]) -> None:
    """BadInput for the first failed check. own: pids of this lake, which may hold its ports."""
    check_build(services)
    check_folder(home.data)
    check_space(home.data)
    check_ports(home, own)


def check_build(services: Sequence[Service]) -> None:
    """BadInput if a service misses a part of the build."""
    for service in services:
        for part in service.parts():
            if not any(part.parent.parent.glob(f"{part.parent.name}/{part.name}")):
                now = "make iam" if part.parent.name == "iam" else service.home.make_setup
                raise BadInput(f"{service.name} has no {part.name}", str(part.parent), f"run: {now}")


def check_folder(data: Path) -> None:
    """BadInput if the data folder cannot be written or created."""
    existing = _existing(data)
    if not existing.is_dir() or not os.access(existing, os.W_OK | os.X_OK):
        raise BadInput("the folder cannot be written", str(existing), "change its owner, or set LAKE_DATA_DIR")


def check_space(data: Path, needed: int = FREE_BYTES) -> None:
    """BadInput if the disk has too little space for logs, topics and tables."""
    free = shutil.disk_usage(_existing(data)).free
    if free < needed:
        have, want = free / 1024**3, needed / 1024**3
        raise BadInput(
            f"only {have:.1f} GiB free, {want:.1f} GiB needed", str(data), "free some space, or set LAKE_DATA_DIR"
        )


def check_ports(home: Environment, own: set[int]) -> None:
    """BadInput if a foreign process listens on a port of this lake."""
    for name, port in asdict(home.ports).items():
        if not free(port) and (holder := _holder(port)) not in own:
            who = describe(psutil.Process(holder)) if holder else "a process of another user"
            other = home.port_base + 100
            raise BadInput(
                f"port {port} for {name} is taken by {who}",
                f"{LOOPBACK}:{port}",
                f"stop it, or choose other ports: LAKE_PORT_BASE={other} lake up",
            )


def _existing(path: Path) -> Path:
    return next(folder for folder in [path, *path.parents] if folder.exists())


def free(port: int) -> bool:
    """True if no process uses the port."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def _holder(port: int) -> int | None:
    """The pid of the process that listens on a port or is connected from it; None for a process of another user."""
    found = [item for item in psutil.net_connections("tcp") if item.laddr and item.laddr.port == port and item.pid]
    found.sort(key=lambda item: item.status != psutil.CONN_LISTEN)
    return found[0].pid if found else None
