"""A Spark job run to its end: launched as everywhere else, its noise in a log, its result as JSON."""

import json
import signal
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from lake.errors import BadInput, LakeError
from lake.local.home import Home
from lake.spark import SHORT_JOB, spark_environment, spark_submit_command

KILL_AFTER_S = 10
WATCH_S = 0.5
NOTHING: Mapping[str, str] = MappingProxyType({})
REFUSED = 2
LOG_LINES = 5
END_BYTES = 2**16  # in which a job's last word on its progress is looked for


def run_job(
    home: Home,
    name: str,
    args: Sequence[str],
    secrets: Mapping[str, str] = NOTHING,
    conf: Mapping[str, str] = NOTHING,
    watch: Callable[[], None] | None = None,
) -> dict[str, Any]:
    """The content of the job's --output file.

    The job is spark_jobs/<name>.py; secrets reach it by environment only, conf overrides Spark's settings, and watch is
    called while it runs. BadInput when it refused its input (exit code 2), LakeError with the last lines of its log
    for any other failure. Ctrl-C stops it.
    """
    config = home.rendered / "pipeline.json"
    if not config.exists():
        raise BadInput("the lake has no tables yet", str(config), "run: lake apply")
    with tempfile.TemporaryDirectory(prefix="lake-") as folder:
        output = Path(folder) / "result.json"
        arguments = ["--config", config.as_uri(), "--output", output.as_uri(), *args]
        code = _run(home, name, arguments, secrets, {**SHORT_JOB, **conf}, watch)
        return _result(home, name, code, output)


def _run(
    home: Home,
    name: str,
    arguments: list[str],
    secrets: Mapping[str, str],
    conf: Mapping[str, str],
    watch: Callable[[], None] | None,
) -> int:
    command = spark_submit_command(home.environment, name, arguments, conf)
    environment = spark_environment(home.environment, {**home.secrets.s3_keys, **secrets})
    with log_path(home, name).open("wb") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        try:
            return _watched(process, watch) if watch else process.wait()
        finally:
            _end(process)


def _watched(process: subprocess.Popen[bytes], watch: Callable[[], None]) -> int:
    while True:
        try:
            code = process.wait(WATCH_S)
            watch()
            return code
        except subprocess.TimeoutExpired:
            watch()


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(KILL_AFTER_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _result(home: Home, name: str, code: int, output: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(output.read_text(encoding="utf-8")) if output.exists() else {}
    if code == REFUSED and "error" in content:
        raise BadInput(content["error"], f"lake {name}", "correct it; lake sql 'show databases' lists what there is")
    if not content:
        tail = " / ".join(_last_lines(log_path(home, name)))
        raise LakeError(
            f"the {name} job ended with code {code}: {tail}",
            str(log_path(home, name)),
            "is the lake up? see: lake status",
        )
    return content


def log_path(home: Home, name: str) -> Path:
    """Where the last run of a job wrote what it had to say."""
    return home.logs / f"job-{name}.log"


def last_told(home: Home, name: str) -> str:
    """What the job said last of its progress, in lines that begin with its name; "" when the log's end has none."""
    with log_path(home, name).open("rb") as log:
        log.seek(max(0, log_path(home, name).stat().st_size - END_BYTES))
        lines = log.read().decode(errors="replace").splitlines()
    return next((line for line in reversed(lines) if line.startswith(f"{name}: ")), "")


def _last_lines(path: Path) -> list[str]:
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    told = [line for line in lines if "Error" in line or "Exception" in line]
    return (told or lines)[-LOG_LINES:]
