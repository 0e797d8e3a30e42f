"""The Spark session of these tests: small, without services, and without a metastore."""

import threading
from collections.abc import Iterator

import pytest
from py4j.clientserver import FinalizerWorker
from pyspark.sql import SparkSession

from lake.config.environment import load_environment
from lake.local.spark_submit import JVM_OPTIONS, SHORT_JOB, class_archive
from lake.rendering.spark import SESSION

HOME = load_environment()


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    builder = SparkSession.builder.master("local[1]").appName("tests").config("spark.ui.enabled", "false")
    settings = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "512m",
        "spark.driver.extraClassPath": str(HOME.spark_build / "spark" / "*"),
        "spark.driver.defaultJavaOptions": " ".join((*JVM_OPTIONS, *class_archive(HOME))),
        **SESSION,
        "spark.sql.shuffle.partitions": "1",
        # Compiling code for some rows takes longer than interpreting it; the tests on a lake compile it.
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.adaptive.enabled": "false",
        **SHORT_JOB,
        "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse")),
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()
    assert _lets_go(), "the thread of py4j that lets go of the JVM's objects has ended: its heap was filling up"


def _lets_go() -> bool:
    return any(isinstance(thread, FinalizerWorker) for thread in threading.enumerate())


@pytest.fixture
def no_metastore(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables are written, and nobody is told."""
    monkeypatch.setattr("spark_jobs.hudi.hive_sync.sync", lambda *_: None)
