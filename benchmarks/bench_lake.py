"""A lake for measuring: its own folder, ports and definition; the tables are made by the benchmark."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import yaml
from rich.console import Console

from lake.config.definition import Database, load_databases
from lake.config.environment import (
    ENVIRONMENTS_VARIABLE,
    PROJECT,
    Environment,
    environment_path,
    load_environment,
)
from lake.config.lock import locked
from lake.config.yaml_file import read_mapping

PORT_BASE = "29000"
REQUEST_LOG = "LOGFILE"  # versitygw's own name for its access log; the supervisors keep VGW_... to themselves
DATABASE = "bench"
console = Console(stderr=True, highlight=False)


@dataclass(frozen=True)
class BenchLake:
    """A running lake, driven through the command line as a user would."""

    data: Path
    environment: dict[str, str]

    @property
    def home(self) -> Environment:
        return load_environment()

    @property
    def databases(self) -> list[Database]:
        return load_databases(PROJECT)

    def lake(self, *arguments: str, check: bool = True) -> str:
        """The output of one lake command; CalledProcessError if it fails, unless check is false."""
        command = [sys.executable, "-m", "lake.cli.main", *arguments]
        return subprocess.run(
            command, env=self.environment, cwd=PROJECT, check=check, stdout=subprocess.PIPE, text=True
        ).stdout

    def json(self, *arguments: str) -> dict[str, Any]:
        """The facts that `lake ARGUMENTS --json` prints, whatever its exit code."""
        facts: dict[str, Any] = json.loads(self.lake(*arguments, "--json", check=False))
        return facts

    @property
    def request_log(self) -> Path:
        """The access log of the S3 server, if it was asked for."""
        return self.data / "s3.log"

    def resident_gb(self) -> float:
        """Memory of all services."""
        return float(sum(line["rss_bytes"] for line in self.json("status")["services"]) / 1e9)

    def connect(self) -> psycopg.Connection:
        return psycopg.connect(self.home.dsn(DATABASE), autocommit=True)

    def capture(self, ddl: dict[str, str], settings: dict[str, Any]) -> None:
        """Creates the tables (name to DDL), defines and captures them."""
        with psycopg.connect(self.home.dsn(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {DATABASE}")
        with self.connect() as connection:
            for statement in ddl.values():
                connection.execute(statement)
        tables = {f"public.{name}": settings for name in ddl}
        definition = {"database": DATABASE, "tables": tables}
        (self.data / "databases" / f"{DATABASE}.yaml").write_text(yaml.safe_dump(definition))
        self.lake("apply")


@contextmanager
def bench_lake(silver: Mapping[str, Any] | None = None, request_log: bool = False) -> Iterator[BenchLake]:
    """A new lake, deleted afterwards. silver: over that of the local environment.

    request_log: the S3 server writes down each request.

    LakeError while another benchmark runs, which would distort both.
    """
    data = PROJECT / ".lake-bench"
    with (
        locked(data.with_suffix(".lock"), "another benchmark is running"),
        _fresh(data, silver or {}, request_log) as lake,
    ):
        yield lake


@contextmanager
def _fresh(data: Path, silver: Mapping[str, Any], request_log: bool) -> Iterator[BenchLake]:
    before = os.environ.copy()
    variables = {
        "LAKE_DATA_DIR": str(data),
        "LAKE_PORT_BASE": PORT_BASE,
        "LAKE_DATABASES_DIR": str(data / "databases"),
        ENVIRONMENTS_VARIABLE: str(_environments(data, silver)),
    }
    if request_log:
        variables[REQUEST_LOG] = str(BenchLake(data, {}).request_log)
    os.environ.update(variables)  # the helpers of lake.* read them too
    lake = BenchLake(data, dict(os.environ))
    _remove(lake)
    (data / "databases").mkdir(parents=True)
    try:
        lake.lake("up")
        yield lake
    finally:
        _remove(lake)
        os.environ.clear()
        os.environ.update(before)


def _environments(data: Path, silver: Mapping[str, Any]) -> Path:
    """A folder with the local environment, changed. It is beside the data: `lake down` reads it before they go."""
    usual = environment_path(PROJECT, "local")
    content = read_mapping(usual)
    folder = data.with_suffix(".environments")
    folder.mkdir(exist_ok=True)
    changed = {**content, "silver": {**content.get("silver", {}), **silver}}
    (folder / usual.name).write_text(json.dumps(changed))  # JSON is YAML
    return folder


def _remove(lake: BenchLake) -> None:
    if lake.data.exists():
        lake.lake("down")
        shutil.rmtree(lake.data)
