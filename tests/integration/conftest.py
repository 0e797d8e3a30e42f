"""One lake for the whole run, in a folder of its own and on ports of its own."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lake.local.home import PROJECT, Home, load_home

SHARED_PORTS = 28000
COMMAND_WITHIN_S = 300


@dataclass(frozen=True)
class RunningLake:
    """A lake used the way a user does: through its command line."""

    data: Path
    port_base: int

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "LAKE_DATA_DIR": str(self.data), "LAKE_PORT_BASE": str(self.port_base)}

    @property
    def home(self) -> Home:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("LAKE_DATA_DIR", str(self.data))
            patch.setenv("LAKE_PORT_BASE", str(self.port_base))
            return load_home()

    def run(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """`lake ARGUMENTS`; fails with the output unless check is false."""
        command = [sys.executable, "-m", "lake.cli", *arguments]
        done = subprocess.run(
            command,
            env=self.environment,
            cwd=PROJECT,
            capture_output=True,
            text=True,
            timeout=COMMAND_WITHIN_S,
        )
        assert not check or done.returncode == 0, f"lake {' '.join(arguments)}: {done.stdout}{done.stderr}"
        return done

    def json(self, *arguments: str) -> Any:
        """The facts that `lake ARGUMENTS --json` prints."""
        return json.loads(self.run(*arguments, "--json", check=False).stdout)

    def services(self) -> dict[str, dict[str, Any]]:
        return {line["name"]: line for line in self.json("status")["services"]}

    def remove(self) -> None:
        """Stop it and delete its folder."""
        self.run("down")
        shutil.rmtree(self.data)


@pytest.fixture(scope="session")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningLake]:
    """The shared lake: up, with nothing in it but what earlier tests of the run made."""
    running = RunningLake(tmp_path_factory.mktemp("lake"), SHARED_PORTS)
    try:
        running.run("up")
        yield running
    finally:
        running.remove()
