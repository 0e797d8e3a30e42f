"""The JVM of the session: its classes, and ways to save time in each call and task of a small commit."""

import logging
from typing import Any, Iterable, Mapping

from py4j.java_gateway import JavaClass, get_method
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from spark_jobs.runtime.errors import root_cause

LOG = logging.getLogger("jvm")
NAMES = ("functions", "PythonUtils", "PythonSQLUtils")  # that pyspark asks for with each column and each list
CONFIGURATION = "org.apache.hadoop.conf.Configuration"


def java(spark: SparkSession, name: str) -> Any:
    """The class of that full name.

    By way of spark._jvm each part of the name is first looked for as a class in all jars: a millisecond per part.
    """
    return JavaClass(name, spark._sc._gateway._gateway_client)


def java_map(spark: SparkSession, kind: str, values: Mapping[str, Any]) -> Any:
    """A Java map of that class (Properties are one, too)."""
    made = java(spark, kind)()
    for name, value in values.items():
        made.put(name, value)
    return made


def java_list(spark: SparkSession, values: Iterable[str]) -> Any:
    """A Java list of texts."""
    made = java(spark, "java.util.ArrayList")()
    for value in values:
        made.add(value)
    return made


def keep_names(spark: SparkSession) -> None:
    """Looks up NAMES once: py4j would search six packages in all jars for each use of a name."""
    for name in NAMES:
        setattr(spark._jvm, name, getattr(spark._jvm, name))


class ConfigurationOrigins:
    """The origins of Hadoop's settings: names of files, which nothing here reads.

    Hudi sends all settings with each task of a commit, and Hadoop (Configuration.write) compresses the origin of each
    of the thousand settings separately: 30 ms instead of 4. Hadoop has no method to forget them. If another version
    keeps them in another field, they stay.
    """

    def __init__(self, spark: SparkSession) -> None:
        self._conf = spark._jsc.hadoopConfiguration()
        self._field = None
        try:
            self._field = java(spark, "java.lang.Class").forName(CONFIGURATION).getDeclaredField("updatingResource")
            self._field.setAccessible(True)
        except Py4JJavaError as missing:
            LOG.warning("the origins of Hadoop's settings stay, and commits take longer: %s", root_cause(missing))

    def forget(self) -> None:
        """To be called now and then: when a class adds its own defaults, Hadoop reads all settings again."""
        origins = self._field.get(self._conf) if self._field else None
        if origins is not None:
            get_method(origins, "clear")()  # py4j's own takes out one by one
