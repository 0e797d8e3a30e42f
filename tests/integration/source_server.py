"""A PostgreSQL server of its own, and the preparation as its Job runs it: the chart's programs, the rendered SQL."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psycopg

from lake.aws.container_files import write_sql
from lake.config import secrets
from lake.config.definition import Database
from lake.config.environment import LOOPBACK, PROJECT, Environment
from lake.local.postgres import Postgres
from tests.clocks import HANG_S

PROGRAMS = PROJECT / "helm/source-database/files"


class SourceServer:
    """Started in a folder; logs every statement, so that a password in one of them would show."""

    def __init__(self, folder: Path, port_base: int) -> None:
        self.home = Environment(name="local", root=PROJECT, data_dir=str(folder / "server"), port_base=port_base)
        self.folder = folder
        self.log = folder / "server.log"

    def start(self) -> None:
        secrets.load_or_create(self.home.secrets_path)
        service = Postgres(self.home)
        service.prepare()
        command = [*service.program().command, "-c", "log_statement=all"]
        with self.log.open("w") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, cwd=self.home.data)
        deadline = time.monotonic() + HANG_S
        while not service.ready():
            assert time.monotonic() < deadline, self.log.read_text()
            time.sleep(0.1)

    def stop(self) -> None:
        self.process.send_signal(signal.SIGINT)
        self.process.wait(HANG_S)

    def execute(self, statement: str, database: str = "postgres") -> list[tuple[Any, ...]]:
        """As the superuser; the rows, where the statement has any."""
        with psycopg.connect(self.home.dsn(database), autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []


def prepare(
    home: Environment,
    folder: Path,
    logins: dict[str, tuple[str, str]],
    databases: list[Database],
    captured: dict[str, str] | None = None,
) -> "subprocess.CompletedProcess[str]":
    """One run; logins are user and password by the name of their secret, captured what Connect would answer."""
    for name in ("sql", "lake"):
        shutil.rmtree(folder / name, ignore_errors=True)
    write_sql(databases, folder / "sql")
    write_logins(home, folder / "lake", logins)
    (folder / "lake/captured").mkdir()
    for database, tables in (captured or {}).items():
        (folder / "lake/captured" / database).write_text(tables)
    return run_psql(home, folder)


def run_psql(
    home: Environment, folder: Path, program: str = "prepare.sh", *arguments: str
) -> "subprocess.CompletedProcess[str]":
    """The step that runs psql, in a folder that is ready for it."""
    path = f"{Postgres(home).bin}{os.pathsep}{os.environ['PATH']}"
    command = ["bash", str(PROGRAMS / program), str(folder / "sql"), *arguments]
    return subprocess.run(command, cwd=folder / "lake", env={"PATH": path}, capture_output=True, text=True, timeout=60)


def write_logins(home: Environment, folder: Path, logins: dict[str, tuple[str, str]]) -> None:
    for name, (user, password) in logins.items():
        (folder / name).mkdir(parents=True)
        secret = {"username": user, "password": password, "engine": "postgres"}
        (folder / name / "secret.json").write_text(json.dumps(secret))
    write = [sys.executable, str(PROGRAMS / "write_logins.py"), str(folder), LOOPBACK, str(home.ports.postgres)]
    subprocess.run([*write, "disable", ""], check=True)
