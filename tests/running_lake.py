"""One lake and one Spark session for the whole run, in a folder of its own and on ports of its own: a plug-in."""

import fcntl
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import psycopg
import pytest
import yaml
from pyspark.sql import SparkSession

from lake.clients import stream_status
from lake.config.definition import Database, load_database
from lake.config.environment import PROJECT, Environment, load_environment
from lake.local.spark_submit import SHORT_JOB, spark_conf, spark_environment
from lake.local.stream import Stream
from lake.local.streamer import class_path
from lake.state import applied
from tests import forked_commands
from tests.clocks import HANG_S
from tests.warm_spark import WarmSpark

SHARED_PORTS = int(os.environ.get("LAKE_TEST_PORTS", "28000"))  # set it to test two checkouts beside each other
MEMORY = "3g"  # Hudi holds the merged log of a file slice, which may be half a gigabyte, once more for each task
ENVIRONMENTS = Path(__file__).parent / "integration" / "environments"


@dataclass(frozen=True)
class RunningLake:
    """A lake used the way a user does: through its command line."""

    data: Path
    port_base: int
    environments: Path = ENVIRONMENTS
    release: str = ""  # of EMR; "" for the default
    is_shared: bool = False  # by so many tests that a warm JVM for its jobs pays

    @property
    def variables(self) -> dict[str, str]:
        return {
            "LAKE_DATA_DIR": str(self.data),
            "LAKE_PORT_BASE": str(self.port_base),
            "LAKE_DATABASES_DIR": str(self.databases),
            "LAKE_ENVIRONMENTS_DIR": str(self.environments),
            **({"LAKE_RELEASE": self.release} if self.release else {}),
        }

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, **self.variables}

    @property
    def databases(self) -> Path:
        """The folder of the definitions; tests add theirs with define()."""
        return self.data / "databases"

    @cached_property
    def home(self) -> Environment:
        """Read once: two threads that do so have one environment between them."""
        with self.meant():
            return load_environment()

    @cached_property
    def warm_spark(self) -> WarmSpark:
        return WarmSpark(self.home)

    @property
    def cold(self) -> "RunningLake":
        """The same lake; its jobs are started with spark-submit, as a user's are."""
        return replace(self, is_shared=False)

    @contextmanager
    def meant(self) -> Iterator[None]:
        """Meanwhile this process means this lake, and so does a guardian that it starts: both look here."""
        with pytest.MonkeyPatch.context() as patch:
            for name, value in self.variables.items():
                patch.setenv(name, value)
            yield

    def run(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """`lake ARGUMENTS`; fails with the output unless check is false."""
        warm = self.warm_spark.variables(arguments[0]) if self.is_shared else {}
        done = forked_commands.run(arguments, {**self.environment, **warm}, PROJECT, HANG_S)
        assert not check or done.returncode == 0, f"lake {' '.join(arguments)}: {done.stdout}{done.stderr}"
        return done

    def json(self, *arguments: str) -> Any:
        """The facts that `lake ARGUMENTS --json` prints."""
        done = self.run(*arguments, "--json", check=False)
        assert done.stdout, f"lake {' '.join(arguments)} printed no facts: {done.stderr}"
        return json.loads(done.stdout)

    def services(self) -> dict[str, dict[str, Any]]:
        return {line["name"]: line for line in self.json("status")["services"]}

    def second_job(self) -> subprocess.CompletedProcess[str]:
        """The very command of the streaming job, once more; spark-submit puts what Python says on stdout."""
        stream = Stream(self.home)
        environment = spark_environment(self.home, stream.secrets())
        command = stream.program().command
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=HANG_S)

    def define(self, database: str, tables: dict[str, Any]) -> None:
        """Writes databases/<database>.yaml; `lake apply` then makes it so."""
        self.databases.mkdir(exist_ok=True)
        # Both types, unless the test names them: most tests look at both, and a definition keeps one by default.
        both = {name: {"types": ["cow", "mor"], **settings} for name, settings in tables.items()}
        # A test looks at what is told, and repairs when it has seen that.
        definition = {"database": database, "on_drift": "tell", "tables": both}
        (self.databases / f"{database}.yaml").write_text(yaml.safe_dump(definition))

    def define_as(self, file: Path, **settings: Any) -> None:
        """Takes over a definition with the schemas that it declares, and with other settings of the database."""
        self.databases.mkdir(exist_ok=True)
        for schema in file.parent.glob("*.avsc"):
            shutil.copy(schema, self.databases)
        content = {**yaml.safe_load(file.read_text()), **settings}
        (self.databases / file.name).write_text(yaml.safe_dump(content))

    def forget(self, *databases: str) -> None:
        """Takes databases out again: their tables would slow the tests that follow, their slots would keep the log."""
        for database in databases:
            (self.databases / f"{database}.yaml").unlink(missing_ok=True)
        if self.definitions() or applied.load(self.home):
            self.run("apply", "--yes")

    def apply(self) -> None:
        """`lake apply`; the first one starts the streaming job, too."""
        self.run("apply")

    def definitions(self) -> list[Database]:
        """All databases defined so far."""
        return [load_database(path) for path in sorted(self.databases.glob("*.yaml"))]

    def execute(self, database: str, *statements: str) -> None:
        """Runs the statements in PostgreSQL, each in a transaction of its own."""
        with psycopg.connect(self.home.dsn(database), autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement.encode())

    def drain(self, *names: str) -> None:
        """Returns once every Hudi table of the named databases, default all, holds all that is committed now."""
        databases = [database for database in self.definitions() if not names or database.database in names]
        stream_status.wait_for_lake(self.home, databases, lambda line: None, HANG_S)

    def remove(self) -> None:
        """Stop it and delete its folder."""
        self.warm_spark.close()
        self.run("down")
        shutil.rmtree(self.data)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests with the lab, the museum or the ticket sales come last: these stay, and load what runs beside them."""
    heavy = {"lab", "museum", "tickets"}
    items.sort(key=lambda item: bool(heavy & set(getattr(item, "fixturenames", ()))))


@contextmanager
def ports_to_itself() -> Iterator[None]:
    """Waits until no other run of the tests on this machine has a lake: both would want the same ports."""
    with Path(tempfile.gettempdir(), "lake-tests.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="session")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningLake]:
    """The shared lake: up, with nothing in it but what earlier tests of the run made."""
    running = RunningLake(tmp_path_factory.mktemp("lake"), SHARED_PORTS, is_shared=True)
    with ports_to_itself():
        try:
            running.run("up")
            yield running
        finally:
            running.remove()


@pytest.fixture(scope="session")
def spark(lake: RunningLake) -> Iterator[SparkSession]:
    """A warm session over the shared lake, as lake sql starts one for each statement."""
    home = lake.home
    session = _session(home)
    session.sparkContext.setLogLevel("ERROR")
    yield session
    gateway = session.sparkContext._gateway
    session.stop()
    # A later session needs another class path and other credentials, so its own JVM.
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait(30)
    session.sparkContext.__class__._gateway = session.sparkContext.__class__._jvm = None


def _session(home: Environment) -> SparkSession:
    (home.data / "tmp").mkdir(exist_ok=True)
    builder = SparkSession.builder.master("local[2]").appName("tests").config("spark.driver.memory", MEMORY)
    ours = {"spark.ui.showConsoleProgress": "false", "spark.driver.extraClassPath": class_path(home)}
    for name, value in {**spark_conf(home), **SHORT_JOB, **ours}.items():
        builder = builder.config(name, value)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in spark_environment(home, home.secrets.s3_keys).items():
            patch.setenv(name, value)
        return builder.getOrCreate()
