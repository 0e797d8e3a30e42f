"""Spark jobs of `lake` commands in one warm JVM: a cold one spends ten times as long on the start as on the job.

The commands, the scripts of spark_jobs/, their arguments, their secrets and their exit codes are the real ones, and
each script is a process with a SparkContext of its own. Only spark-submit is left out; RunningLake.cold has it.
"""

import fcntl
import os
import runpy
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

import pytest
from pyspark import SparkConf
from pyspark.java_gateway import launch_gateway

from lake.config.environment import PROJECT, Environment
from lake.local import spark_job
from lake.local.spark_submit import SHORT_JOB, spark_conf, spark_environment

PORT, SECRET = "PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET"  # a script that finds them starts no JVM
COMMANDS = {"quarantine", "recover", "resnapshot", "sql", "topics", "verify"}  # their jobs have the settings of CONF
CONF = {**SHORT_JOB, **spark_job.IMPATIENT}


class WarmSpark:
    """The JVM, which starts when it is needed first, and ends with close()."""

    def __init__(self, home: Environment) -> None:
        self._home = home

    def variables(self, command: str) -> dict[str, str]:
        """What a `lake` command needs to know, if its jobs can run here."""
        return self._address if command in COMMANDS else {}

    @cached_property
    def _address(self) -> dict[str, str]:
        (self._home.data / "tmp").mkdir(exist_ok=True)
        settings = SparkConf(loadDefaults=False).setAll([*{**spark_conf(self._home), **CONF}.items()])
        with pytest.MonkeyPatch.context() as patch:
            for name, value in spark_environment(self._home, self._home.secrets.s3_keys).items():
                patch.setenv(name, value)
            self._gateway = launch_gateway(settings)
        given = self._gateway.gateway_parameters
        return {PORT: str(given.port), SECRET: given.auth_token}

    def close(self) -> None:
        if "_address" in self.__dict__:
            self._gateway.shutdown()
            self._gateway.proc.stdin.close()
            self._gateway.proc.wait(30)


def use_it() -> None:
    """The jobs of this process run there, if its variables say where."""
    if PORT in os.environ:
        spark_job.spark_submit_command = command  # type: ignore[assignment]


def command(_: Environment, script: str, arguments: Sequence[str], conf: Mapping[str, str]) -> list[str]:
    """Instead of spark-submit. A job with other settings would get the wrong ones."""
    assert conf == CONF, f"{script} has settings of its own: start it with spark-submit"
    return [sys.executable, "-m", __name__, str(PROJECT / "spark_jobs" / f"{script}.py"), *arguments]


def _run_script(script: str) -> None:
    """As its process, once no other one uses the JVM. A script that was killed has left its context there."""
    with Path(tempfile.gettempdir(), f"warm-spark-{os.environ[PORT]}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        spark = launch_gateway().jvm.org.apache.spark
        left = getattr(getattr(spark, "SparkContext$"), "MODULE$").getActive()
        if left.isDefined():
            left.get().stop()
        runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    sys.argv = sys.argv[1:]
    _run_script(sys.argv[0])
