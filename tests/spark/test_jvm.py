import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from spark_jobs.runtime import jvm
from spark_jobs.runtime.jvm import NAMES, ConfigurationOrigins, java, keep_names


def test_a_class_is_found_by_its_full_name(spark: SparkSession) -> None:
    map_class = java(spark, "java.util.HashMap")
    assert dict(map_class()) == {}
    assert java(spark, "java.util.AbstractMap$SimpleEntry")("key", "value").getKey() == "key"
    assert java(spark, "java.util.Collections").singleton("one").contains("one")


def test_kept_names_mean_what_they_meant(spark: SparkSession) -> None:
    before = {name: getattr(spark._jvm, name)._fqn for name in NAMES}  # type: ignore[union-attr]
    keep_names(spark)
    assert {name: vars(spark._jvm)[name]._fqn for name in NAMES} == before
    assert [row[0] for row in spark.range(2).select(F.col("id") + 1).collect()] == [1, 2]


def test_settings_without_their_origins_have_the_same_values(spark: SparkSession) -> None:
    conf = spark._jsc.hadoopConfiguration()  # type: ignore[attr-defined]
    value, origin = conf.get("io.file.buffer.size"), conf.getPropertySources("io.file.buffer.size")
    assert list(origin)
    ConfigurationOrigins(spark).forget()
    assert conf.getPropertySources("io.file.buffer.size") is None
    assert conf.get("io.file.buffer.size") == value
    conf.set("lake.of.this.test", "1")
    assert list(conf.getPropertySources("lake.of.this.test"))


def test_a_hadoop_that_keeps_them_elsewhere_keeps_them(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jvm, "CONFIGURATION", "java.lang.Object")
    ConfigurationOrigins(spark).forget()
