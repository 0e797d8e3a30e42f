"""The streaming job with executors, processes of their own as on a cluster, instead of the driver's threads."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from lake.config.environment import Environment, load_environment
from lake.local.java import jdk_tool
from lake.local.spark_submit import JVM_OPTIONS, spark_environment, spark_home
from tests.faults.process_faults import Stop
from tests.faults.rig import Rig
from tests.faults.workload import until

PROGRAM = "org.apache.spark.executor.CoarseGrainedExecutorBackend"
COUNT, CORES, MEMORY_MB = 2, 1, 768
MASTER = f"local-cluster[{COUNT},{CORES},{MEMORY_MB}]"
STARTS_WITHIN_S = 120.0
PLUGIN = "FailingTasks"


@dataclass
class Executors:
    """Those of one application."""

    driver: psutil.Process
    log: Path

    def failed_on_purpose(self) -> int:
        """How many tasks a FailingTasks plugin has failed."""
        with self.log.open(errors="replace") as lines:
            return sum("Lost task" in line and "fails on purpose" in line for line in lines)

    def kill(self) -> None:
        """kill -9 of the first; returns once there are as many as before."""
        before = self.all()
        before[0].kill()
        others = {one.pid for one in before[1:]}
        until(lambda: len(self.all()) == len(before) and others < {one.pid for one in self.all()}, "none comes", 60)

    def all(self) -> list[psutil.Process]:
        return [one for one in self.driver.children(recursive=True) if _is_executor(one)]


@contextmanager
def on_executors(rig: Rig, *flags: str) -> Iterator[Executors]:
    """Runs the job of the lake's own service in its place. flags: of spark-submit."""
    stop, path = Stop("stream"), rig.home.logs / "stream-on-executors.log"
    stop.inject(rig)
    try:
        with path.open("wb") as log:
            driver = _start(rig, log.fileno(), flags)
        try:
            executors = Executors(psutil.Process(driver.pid), path)
            until(lambda: len(executors.all()) == COUNT, "no executors", STARTS_WITHIN_S)
            yield executors
        finally:
            driver.terminate()
            driver.wait(60)
    finally:
        stop.heal(rig)


def failing_tasks(folder: Path, seed: int) -> list[str]:
    """Flags for on_executors: one task in five fails once; builds the plugin in the folder."""
    source, jar = Path(__file__).with_name("FailingTasks.java"), folder / "failing-tasks.jar"
    spark = f"{spark_home(load_environment()) / 'jars'}/*"
    compiler = [jdk_tool("javac"), "--release", "8", "-cp", spark, "-d", str(folder)]
    subprocess.run([*compiler, str(source)], check=True)
    subprocess.run([jdk_tool("jar"), "--create", "--file", str(jar), "-C", str(folder), f"{PLUGIN}.class"], check=True)
    return ["--jars", str(jar), "--conf", f"spark.plugins={PLUGIN}", "--conf", f"spark.failingTasks.seed={seed}"]


def _start(rig: Rig, log: int, more: tuple[str, ...]) -> "subprocess.Popen[bytes]":
    service = rig.stack.service("stream")
    program = service.program()
    launcher, *rest = [MASTER if word == "local[*]" else word for word in program.command]
    flags = [flag for name, value in settings(rig.home).items() for flag in ("--conf", f"{name}={value}")]
    environment = spark_environment(rig.home, service.secrets())
    return subprocess.Popen(
        [launcher, *flags, *more, *rest],
        cwd=program.folder,
        env=environment,
        stdout=log,
        stderr=log,
        stdin=subprocess.DEVNULL,
    )


def settings(home: Environment) -> dict[str, str]:
    """Of Spark, for its executors."""
    return {
        "spark.executor.memory": f"{MEMORY_MB}m",
        "spark.executor.extraClassPath": str(home.spark_build / "spark" / "*"),
        "spark.executor.extraJavaOptions": " ".join(JVM_OPTIONS),
    }


def _is_executor(process: psutil.Process) -> bool:
    try:
        return PROGRAM in process.cmdline()
    except psutil.Error:  # gone meanwhile
        return False
