"""A store like S3 whose requests fail on purpose: lake.trial.FaultyStore (hudi_index/src/test)."""

from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession

from spark_jobs.runtime.jvm import java
from tests.clocks import HANG_S
from tests.spark.conftest import HOME

CLASSES = HOME.spark_build / "maven" / "lake-hudi-index" / "test-classes"
STORE = "lake.trial.FaultyStore"
ROOT = "s3a://trial"  # before the path of a folder of this machine
SAME = "s3a://other"  # the same files as another job has them: nothing in this process connects the two
NONE = 10**6  # a commit has less requests


class Store:
    """All files below ROOT, and the faults of their requests (lake.trial.Faults)."""

    def __init__(self, spark: SparkSession) -> None:
        loader = java(spark, "java.lang.Thread").currentThread().getContextClassLoader()
        loader.addURL(java(spark, "java.io.File")(str(CLASSES)).toURI().toURL())
        spark._jsc.hadoopConfiguration().set("fs.s3a.impl", STORE)  # type: ignore[attr-defined]
        self._faults = java(spark, "lake.trial.Faults")

    @contextmanager
    def fault(self, kind: str, number: int) -> Iterator[list[str]]:
        """The request of this number within the block meets the fault. Yields all of them; to be read after it."""
        seen: list[str] = []
        self._faults.plan(number, kind)
        try:
            yield seen
        finally:
            seen += list(self._faults.heal())

    @contextmanager
    def noted(self) -> Iterator[list[str]]:
        """The requests of the block, as "PUT name"; to be read after it."""
        with self.fault("REFUSED", NONE) as seen:
            yield seen

    def await_held(self) -> None:
        """Waits until a request is HELD."""
        assert self._faults.awaitHeld(int(HANG_S)), "no request of that number"

    def release(self) -> None:
        """Lets the request go on that is HELD."""
        self._faults.release()

    def arrive(self) -> None:
        """Carries out the requests that are LATE."""
        self._faults.arrive()
