"""The metastore: tables, columns and partitions registered by Hudi's own sync tool."""

import logging
import threading

from pyspark.sql import SparkSession

from spark_jobs.runtime import storage
from spark_jobs.runtime.errors import root_cause
from spark_jobs.runtime.jvm import java, java_map
from spark_jobs.runtime.pipeline import Target

LOG = logging.getLogger("hive_sync")


def sync(spark: SparkSession, target: Target) -> None:
    """Updates the metastore to the table at target.path; does nothing when it is up to date."""
    properties = java_map(spark, "org.apache.hudi.common.config.TypedProperties", target.options)
    tool = target.options["hoodie.meta.sync.client.tool.class"]
    system, _ = storage.located(spark, target.path)
    conf = spark._jsc.hadoopConfiguration()
    helpers = java(spark, "org.apache.hudi.sync.common.util.SyncUtilHelpers")
    helpers.runHoodieMetaSync(tool, properties, conf, system, target.path, "PARQUET")


class MetastoreSync:
    """Keeps the metastore up to date with one table. failure: why it does not know the last commit, or ''."""

    def __init__(self, spark: SparkSession, target: Target, name: str, has_commits: bool) -> None:
        self._spark = spark
        self._target = target
        self._name = name
        self._lock = threading.Lock()
        self._due = has_commits  # a crash may have happened between the last commit and its sync
        self._changed = False  # True: the metastore is certainly out of date
        self.failure = ""

    @property
    def is_due(self) -> bool:
        """True if sync() would do something."""
        return self._due or self._changed

    def note_change(self) -> None:
        """Records that columns or partitions are new. Call it after the commit: a later sync then includes them."""
        self._changed = True

    def after_commit(self) -> None:
        """Syncs new columns and partitions. A metastore that does not answer delays one batch only.

        Then the table services try again. They also repeat a sync that a crash may have prevented: in a new JVM a sync
        takes seconds, while all tables are late.
        """
        if self._changed and not self.failure:
            self.sync()

    def check(self) -> None:
        """Syncs even if nothing is new: somebody may have dropped or altered the table in the metastore."""
        self._due = True
        self.sync()

    def sync(self) -> None:
        """Registers columns and partitions that may be new."""
        with self._lock:
            if not self.is_due:
                return
            self._due = self._changed = False
            try:
                sync(self._spark, self._target)
                self.failure = ""
            except Exception as error:  # py4j wraps whatever the metastore client throws
                self._due, self.failure = True, root_cause(error)
                LOG.warning("%s: committed, but the metastore is not up to date yet: %s", self._name, self.failure)
