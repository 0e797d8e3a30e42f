"""The start of a Spark job on this machine: the command line of spark-submit and its environment."""

import importlib.util
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from lake.config import versions
from lake.config.environment import Environment
from lake.config.errors import BadInput
from lake.local import iam
from lake.rendering.spark import SESSION, Place, spark_submit
from lake.rendering.topics import LARGEST_MESSAGE

S3A = "spark.hadoop.fs.s3a"
JVM_OPTIONS = (
    "-XX:+UseSerialGC",  # two cores: the parallel collectors only cost memory
    # On two cores the second compiler takes a third of a job's first minutes. Inlining less, it takes a sixth off all
    # of the processor time of a million changes (docs/measured.md).
    "-XX:MaxInlineLevel=9",
    "-XX:FreqInlineSize=150",
    "-XX:InlineSmallCode=1200",
    # Compiling only what runs three times as often as by default takes a tenth more off.
    "-XX:Tier4InvocationThreshold=15000",
    "-XX:Tier4MinInvocationThreshold=1800",
    "-XX:Tier4CompileThreshold=45000",
    "-XX:Tier4BackEdgeThreshold=120000",
    "-Djava.net.preferIPv4Stack=true",
    "-Duser.timezone=UTC",  # a decoded date or timestamp never depends on the machine's zone
    # A broken message can claim a text of 2 GB; none is longer than a message, and a failed allocation ends the JVM.
    f"-Dorg.apache.avro.limits.string.maxLength={4 * LARGEST_MESSAGE}",
    f"-Dorg.apache.avro.limits.bytes.maxLength={4 * LARGEST_MESSAGE}",
    # S3A reads each answer of S3 with a new parser, and Java searches all jars for its name, twice and in vain.
    "-Dorg.xml.sax.driver=com.sun.org.apache.xerces.internal.parsers.SAXParser",
    # To know how large its rows are, Hudi starts a second JVM that attaches to this one, for seconds and in vain.
    "-Djol.skipHotspotSAAttach=true",
    "-Djol.skipDynamicAttach=true",
)
# A job of seconds spends half its time in the second compiler; a stream earns that back, a query does not.
# With one compiler the JVM keeps 48 MB for what it compiled; Spark's own code fills them, and a thread clears all day.
SHORT_JOB = {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=128m"}

SECOND_COMPILER = Path(__file__).with_name("second_compiler.json")


def long_job() -> dict[str, str]:
    """For a job of hours. The second compiler takes only the code that handles rows: of the rest, which starts and
    plans Spark jobs, it would compile thousands of methods in the first minutes (docs/measured.md).

    The file is one of compiler directives (JEP 165): the first one that matches a method counts.
    """
    directives = f'-XX:+UnlockDiagnosticVMOptions "-XX:CompilerDirectivesFile={SECOND_COMPILER}"'
    return {"spark.driver.extraJavaOptions": directives}


def spark_submit_command(
    environment: Environment, script: str, args: Sequence[str], conf: Mapping[str, str] | None = None
) -> list[str]:
    """spark-submit of spark_jobs/<script>.py on this machine; conf overrides the settings of the machine."""
    size = ("--master", "local[*]", "--driver-memory", environment.spark.driver_memory)
    folder = environment.root / "spark_jobs"
    settings = {**spark_conf(environment), **(conf or {})}
    place = Place(size, str(folder / f"{script}.py"), (folder / "pools.xml").as_uri(), settings)
    return [str(spark_home(environment) / "bin" / "spark-submit"), *spark_submit(script, script, place, args)]


def spark_environment(environment: Environment, credentials: Mapping[str, str]) -> dict[str, str]:
    """The variables of the process: the current ones, those of Spark, and the given credentials (S3, JDBC)."""
    binaries = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    return {
        **os.environ,
        **credentials,
        "PATH": binaries,  # spark-submit finds Python, and Python finds pyspark, only through these
        "SPARK_HOME": str(spark_home(environment)),
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": str(environment.root),
        "SPARK_LOCAL_IP": "127.0.0.1",
    }


def spark_conf(environment: Environment) -> dict[str, str]:
    """The settings of every job that reads or writes the lake on this machine."""
    return {**SESSION, **_driver(environment), **_object_store(environment)}


def spark_home(environment: Environment) -> Path:
    """The folder of the PySpark of the release, which Python then imports; BadInput when it is not installed."""
    if environment.release != versions.EMR:
        return _spark_beside(environment)
    found = importlib.util.find_spec("pyspark")
    if found is None or found.origin is None:
        raise BadInput("pyspark is not installed", sys.executable, "run make setup")
    return Path(found.origin).parent


def _spark_beside(environment: Environment) -> Path:
    """PySpark of another release than the default: not in the virtual environment, which can hold one only."""
    folder = environment.spark_build / "python" / "pyspark"
    if not folder.exists():
        what = f"PySpark of {environment.release} is not installed"
        raise BadInput(what, str(folder), f"run: {environment.make_setup}")
    return folder


def _driver(environment: Environment) -> dict[str, str]:
    scratch = environment.data / "tmp"  # a killed job leaves session folders of Hive and spilled maps of Hudi here
    return {
        "spark.driver.extraClassPath": ":".join(
            [str(environment.spark_build / "spark" / "*"), *iam.client_jars(environment)]
        ),
        "spark.driver.defaultJavaOptions": " ".join(
            (*JVM_OPTIONS, *class_archive(environment), f'"-Djava.io.tmpdir={scratch}"')
        ),
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.local.dir": str(scratch),
        # Here the driver is the executor. If the laptop slept for two minutes, the driver would consider its executor
        # lost, never accept it again, and end ten minutes later.
        "spark.storage.blockManagerHeartbeatTimeoutMs": "365d",
        "spark.sql.warehouse.dir": (environment.data / "warehouse").as_uri(),
        "spark.sql.shuffle.partitions": "4",
    }


def class_archive(environment: Environment) -> list[str]:
    """Halves the start of a job. A JVM that cannot use it, because of other jars, ignores it silently."""
    return [f'"-XX:SharedArchiveFile={class_archive_path(environment)}"', "-Xlog:cds=off", "-Xlog:cds+dynamic=off"]


def class_archive_path(environment: Environment) -> Path:
    """The archive of classes that make setup writes (tools/class_archive.py)."""
    return environment.spark_build / "spark.jsa"


def _object_store(environment: Environment) -> dict[str, str]:
    return {
        "spark.sql.catalogImplementation": "hive",
        "spark.hadoop.hive.metastore.uris": f"thrift://127.0.0.1:{environment.ports.metastore}",
        f"{S3A}.endpoint": f"http://127.0.0.1:{environment.ports.s3}",
        f"{S3A}.connection.ssl.enabled": "false",
        f"{S3A}.path.style.access": "true",
        # The default deletes the parents' markers after each create: seconds on a file-backed server.
        f"{S3A}.directory.marker.retention": "keep",
        # Avro readers go from block to block: the default, 64K, opens a connection for each of them.
        f"{S3A}.readahead.range": "1M",
        f"{S3A}.aws.credentials.provider": "com.amazonaws.auth.EnvironmentVariableCredentialsProvider",
    }
