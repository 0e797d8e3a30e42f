"""Steps of the set-up: they run in parallel, each with a log, and are skipped if their inputs have not changed."""

import contextlib
import hashlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

TAIL_LINES = 20
STILL_AT_WORK_S = 15
KILL_AFTER_S = 5

Child = subprocess.Popen[bytes]
Action = Sequence[str] | Callable[[], str]


class StepFailed(Exception):
    """Raised when a command or check of a step fails; its text is shown to the user."""


@dataclass(frozen=True)
class Step:
    """Commands (or functions) in order. `inputs` are globs; `done` returns True if the results exist."""

    name: str
    inputs: tuple[str, ...]
    actions: Callable[[], Sequence[Action]]
    done: Callable[[], bool]
    after: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)

    @property
    def slug(self) -> str:
        return self.name.replace(" ", "-")


class Stamps:
    """Remembers the inputs of the last success of each step: build/.stamps/<step>."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = root / "build" / ".stamps"

    def up_to_date(self, step: Step) -> bool:
        path = self.folder / step.slug
        return path.is_file() and path.read_text() == self.digest(step) and step.done()

    def write(self, step: Step) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / step.slug).write_text(self.digest(step))

    def forget(self, step: Step) -> None:
        (self.folder / step.slug).unlink(missing_ok=True)

    def digest(self, step: Step) -> str:
        digest = hashlib.sha256()
        paths = {path for pattern in step.inputs for path in self.root.glob(pattern) if path.is_file()}
        for path in sorted(paths):
            digest.update(path.relative_to(self.root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
        return digest.hexdigest()


class Children:
    """The running commands, each in its own process group, so that none outlives this program."""

    def __init__(self) -> None:
        self.running: set[Child] = set()
        self.stopping = threading.Event()
        self.lock = threading.Lock()

    def run(self, command: Sequence[str], *, cwd: Path, env: dict[str, str], log: Path) -> int:
        with log.open("ab") as output:
            child = self._start(command, cwd, env, output)
        try:
            return child.wait()
        finally:
            with self.lock:
                self.running.discard(child)

    def _start(self, command: Sequence[str], cwd: Path, env: dict[str, str], output: IO[bytes]) -> Child:
        with self.lock:
            if self.stopping.is_set():
                raise StepFailed("stopped")
            child = subprocess.Popen(
                command,
                cwd=cwd,
                env={**os.environ, **env},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            self.running.add(child)
            return child

    def stop(self) -> None:
        """Send TERM to every group, and KILL after KILL_AFTER_S to the remaining ones."""
        with self.lock:
            self.stopping.set()
            children = list(self.running)
        for child in children:
            kill_group(child, signal.SIGTERM)
        deadline = time.monotonic() + KILL_AFTER_S
        while time.monotonic() < deadline and any(child.poll() is None for child in children):
            time.sleep(0.05)
        for child in children:
            kill_group(child, signal.SIGKILL)


def kill_group(child: Child, sign: signal.Signals) -> None:
    # suppress: already ended, with all its children
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, sign)


class Run:
    """Runs the steps that are not up to date, each as soon as the steps before it are done."""

    def __init__(self, root: Path, steps: Sequence[Step], stamps: Stamps) -> None:
        self.root = root
        self.steps = steps
        self.stamps = stamps
        self.children = Children()
        self.finished = {step.name: threading.Event() for step in steps}
        self.failures: list[str] = []
        self.started: dict[str, float] = {}

    def all(self) -> list[str]:
        """The failures, one text per failed step; empty if all steps succeeded."""
        threads = [threading.Thread(target=self._one, args=(step,), daemon=True) for step in self.steps]
        try:
            for thread in threads:
                thread.start()
            self._wait(threads)
        finally:
            self.children.stop()
        return self.failures

    def _wait(self, threads: Sequence[threading.Thread]) -> None:
        said = time.monotonic()
        while any(thread.is_alive() for thread in threads) and not self.failures:
            time.sleep(0.05)
            if time.monotonic() - said > STILL_AT_WORK_S:
                said = time.monotonic()
                running = [f"{name} {said - at:.0f} s" for name, at in sorted(self.started.items())]
                say("      at work: " + ", ".join(running))

    def _one(self, step: Step) -> None:
        for name in step.after:
            if name in self.finished:
                self.finished[name].wait()
        number = f"[{self.steps.index(step) + 1}/{len(self.steps)}] {step.name}"
        self.started[step.name] = time.monotonic()
        try:
            self._perform(step, number)
        except Exception as failure:  # any failure: the user must see it, and the other steps must stop
            if not self.children.stopping.is_set():
                self.failures.append(f"{number}: {failure}")
            return
        self.finished[step.name].set()

    def _perform(self, step: Step, number: str) -> None:
        if self.stamps.up_to_date(step):
            del self.started[step.name]
            say(f"{number}: up to date")
            return
        say(f"{number}: started")
        self.stamps.forget(step)
        log = self.root / "build" / "logs" / f"{step.slug}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_bytes(b"")
        for action in step.actions():
            self._act(action, step, log)
        self.stamps.write(step)
        say(f"{number}: done in {time.monotonic() - self.started.pop(step.name):.0f} s")

    def _act(self, action: Action, step: Step, log: Path) -> None:
        if callable(action):
            text = action()
            with log.open("a") as output:
                output.write(text + "\n")
            return
        code = self.children.run(action, cwd=self.root, env=step.env, log=log)
        if code != 0:
            where = log.relative_to(self.root)
            raise StepFailed(f"`{' '.join(action)}` ended with {code}; last lines of {where}:\n{tail(log)}")


def tail(log: Path) -> str:
    return "\n".join("    " + line for line in log.read_text(errors="replace").splitlines()[-TAIL_LINES:])


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def perform(root: Path, steps: Sequence[Step]) -> bool:
    """Runs all steps that are not up to date; failures are printed."""
    start = time.monotonic()
    failures = Run(root, steps, Stamps(root)).all()
    say("\n".join(failures) if failures else f"ready in {time.monotonic() - start:.0f} s")
    return not failures
