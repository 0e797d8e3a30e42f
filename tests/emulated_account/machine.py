"""What the steps of an emulated cluster do: nothing, what a test says, or really run on this machine."""

import gzip
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

NODE = Path(__file__).parent / "node"  # the commands of a node: aws, yarn, spark-submit
STATES = "NEW,NEW_SAVING,SUBMITTED,ACCEPTED,RUNNING"
Act = Callable[[list[str]], str]  # what a step does with its arguments; its log; raises to fail


@dataclass(frozen=True)
class Ended:
    """How a step ended."""

    code: int
    log: str

    @property
    def reason(self) -> str:
        """As EMR takes it from the log."""
        lines = [line for line in self.log.splitlines() if line.strip()]
        return lines[-1][:200] if self.code and lines else ""

    @property
    def packed(self) -> bytes:
        return gzip.compress(self.log.encode())


class Machine(Protocol):
    """By the ids of steps."""

    def begin(self, id: str, name: str, arguments: list[str], region: str) -> None: ...

    def look(self, id: str) -> Ended | None:
        """None while it runs."""

    def cancel(self, id: str) -> None: ...


class Paper:
    """Every step succeeds and does nothing, but for those of a name that a test gave an act."""

    def __init__(self, acts: Mapping[str, Act] | None = None) -> None:
        self._acts = acts or {}
        self._ended: dict[str, Ended] = {}

    def begin(self, id: str, name: str, arguments: list[str], region: str) -> None:
        try:
            self._ended[id] = Ended(0, self._acts.get(name, lambda _: "done\n")(arguments))
        except Exception as error:
            self._ended[id] = Ended(1, f"{error}\n")

    def look(self, id: str) -> Ended | None:
        return self._ended.get(id)

    def cancel(self, id: str) -> None:
        """Nothing runs."""


class Chosen(Paper):
    """Steps whose name begins so really run; the others do nothing."""

    def __init__(self, beginning: str, node: "Node") -> None:
        super().__init__()
        self._beginning, self._node = beginning, node
        self._real: set[str] = set()

    def begin(self, id: str, name: str, arguments: list[str], region: str) -> None:
        if name.removeprefix("stop ").startswith(self._beginning):
            self._real.add(id)
            return self._node.begin(id, name, arguments, region)
        return super().begin(id, name, arguments, region)

    def look(self, id: str) -> Ended | None:
        return self._node.look(id) if id in self._real else super().look(id)


class Node:
    """Steps really run, as command-runner.jar runs them: a command, with the commands of a node.

    variables lead to the emulated account; folder keeps logs, and what the yarn command knows.
    """

    def __init__(self, variables: Mapping[str, str], folder: Path) -> None:
        self._folder = folder
        path = os.pathsep.join([str(NODE), str(Path(sys.executable).parent), os.environ["PATH"]])
        self._environment = {**os.environ, **variables, "PATH": path, "NODE_FOLDER": str(folder)}
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def begin(self, id: str, name: str, arguments: list[str], region: str) -> None:
        with self._log(id).open("wb") as log:
            streams: Any = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log}
            self._running[id] = subprocess.Popen(arguments, env=self._environment, start_new_session=True, **streams)

    def _log(self, id: str) -> Path:
        return self._folder / f"{id}.log"

    def applications(self, tag: str) -> list[str]:
        """What YARN would list."""
        done = subprocess.run(
            [str(NODE / "yarn"), "application", "-list", "-appTags", tag, "-appStates", STATES],
            env=self._environment,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        return [line.split()[0] for line in done.stdout.splitlines()]

    def close(self) -> None:
        """Ends whatever still runs."""
        for process in self._running.values():
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        for application in self._folder.glob("application_*"):
            pid = int(application.read_text().split()[0])
            if self._is_ours(pid):
                os.killpg(pid, signal.SIGKILL)

    def _is_ours(self, pid: int) -> bool:
        """A number may be another process's by now."""
        with suppress(OSError):
            return f"NODE_FOLDER={self._folder}\0" in Path(f"/proc/{pid}/environ").read_text(errors="replace")
        return False

    def look(self, id: str) -> Ended | None:
        code = self._running[id].poll()
        return None if code is None else Ended(code, self._log(id).read_text(errors="replace"))

    def cancel(self, id: str) -> None:
        if self._running[id].poll() is None:
            os.killpg(self._running[id].pid, signal.SIGKILL)
            self._running[id].wait()
