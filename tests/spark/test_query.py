"""A statement over the lake: what it may do, what of the past it reads, and its values as JSON."""

from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.utils import AnalysisException

from spark_jobs import query
from spark_jobs.hudi import time_travel, timeline
from spark_jobs.runtime.batch_job import Refused
from spark_jobs.runtime.pipeline import Target
from spark_jobs.sql import parse

NOW = Namespace(sql="", as_of=None, since=None, until=None, config="", limit=10)
ASKED = Namespace(**{**vars(NOW), "sql": "SELECT n FROM shop_cow.t", "as_of": "0/10"})
NAMES = ["shop_cow.t", "shop_mor.t_rt", "shop_mor.t_ro"]


def asked(sql: str, **moment: Any) -> Namespace:
    return Namespace(**{**vars(NOW), "sql": sql, **moment})


def targets(path: str) -> dict[str, Target]:
    return {name: Target("mor" if "_mor" in name else "cow", path, (), {}) for name in NAMES}


@pytest.fixture
def past(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each table's past is one row, 0; a table of its own in the catalog there is not."""
    monkeypatch.setattr(query, "read_pipeline", lambda spark, config: None)
    monkeypatch.setattr(query, "tables", lambda pipeline: targets("somewhere"))
    monkeypatch.setattr(query, "rows_of_the_past", lambda *_: spark.range(1).toDF("n"))
    monkeypatch.setattr(time_travel, "instant_of", lambda *_: "20261121123000123")


@pytest.fixture(scope="module")
def table(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A copy-on-write table whose row 1 has been 'a' since LSN 0/64 and is 'b' since 0/C8."""
    path = (tmp_path_factory.mktemp("lake") / "t").as_uri()
    options = {
        "hoodie.table.name": "t",
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.datasource.write.precombine.field": "at",
        "hoodie.datasource.write.keygenerator.class": "org.apache.hudi.keygen.NonpartitionedKeyGenerator",
        "hoodie.upsert.shuffle.parallelism": "1",
        "hoodie.metadata.enable": "false",
        "hoodie.datasource.write.commitmeta.key.prefix": timeline.PREFIX,
    }
    for lsn, value in ((0x64, "a"), (0xC8, "b")):
        rows = spark.range(1, 2).selectExpr("id", f"{lsn} AS at", f"'{value}' AS value")
        given = {**options, **timeline.metadata_options({"lsn": lsn})}
        rows.write.format("hudi").options(**given).mode("append").save(path)
    return path


@pytest.fixture
def lake(table: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query, "read_pipeline", lambda spark, config: None)
    monkeypatch.setattr(query, "tables", lambda pipeline: targets(table))


def test_rows_of_a_moment_that_is_kept(spark: SparkSession, past: None) -> None:
    assert query.answer(spark, ASKED)["rows"] == [[0]]


def test_a_moment_that_is_cleaned_while_it_is_read_is_refused(
    spark: SparkSession, past: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cleaned(_: object, path: str, moment: str, *engine: str) -> str:
        if moment == ASKED.as_of:
            return "20261121120000000"
        oldest = "20261121123000123, the oldest moment that is kept completely"
        raise time_travel.NoSuchMoment(f"{moment} is before {oldest}")

    monkeypatch.setattr(time_travel, "instant_of", cleaned)
    with pytest.raises(Refused, match="the oldest moment that is kept completely"):
        query.answer(spark, ASKED)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT n FROM `shop_cow`.`t`",
        "SELECT n FROM spark_catalog.shop_cow.t",
        "SELECT n FROM Shop_Cow . T AS x WHERE x.n = 0",
        "SELECT t.n FROM shop_cow.t",
        "SELECT x.n FROM shop_cow.t JOIN shop_cow.t x",
        "TABLE shop_cow.t",
        "SELECT n FROM shop_cow.t TABLESAMPLE (10 ROWS)",
        "WITH x AS (SELECT n FROM shop_cow.t) SELECT n FROM x",
        "SELECT (SELECT max(n) FROM shop_cow.t)",
        "SELECT 0 FROM range(1) WHERE EXISTS (SELECT 1 FROM shop_cow.t)",
        "SELECT n FROM shop_cow.t WHERE 'shop_cow.t' = concat('shop', '_cow.t') LIMIT 1",
    ],
)
def test_a_moment_is_that_of_each_table_however_it_is_named(spark: SparkSession, past: None, sql: str) -> None:
    """There is no other table than those of the past: one that was missed would not be found."""
    assert query.answer(spark, asked(sql, as_of="0/10"))["rows"] == [[0]]


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        ("SELECT 1 FROM shop_cow.t, x.shop_cow.t", "x.shop_cow.t is not a table of the lake"),
        ("SELECT 1 FROM shop_cow.t, shop_quarantine.messages", "shop_quarantine.messages is not a table of the lake"),
        ("SELECT * FROM hudi.`s3a://lake/silver/t`", "hudi.s3a://lake/silver/t is not a table of the lake"),
        ("WITH t AS (SELECT 1 FROM t) SELECT 1 FROM t, shop_cow.t", "t is not a table of the lake"),
        ("SELECT 1", "names no table of the lake"),
        ("SELECT * FROM shop_cow./* old */t", "to read shop_cow.t as of a moment, write its name without comments"),
        ("SELECT * FROM hudi_query('shop_cow.t', 'snapshot'), shop_cow.t", "hudi_query can't be read as of a moment"),
        ("SELECT * FROM shop_cow.t VERSION AS OF 1", "already names a moment"),
        ("DESCRIBE shop_cow.t", "a moment belongs to a query"),
    ],
)
def test_what_would_be_read_as_it_is_now_is_refused(spark: SparkSession, past: None, sql: str, says: str) -> None:
    with pytest.raises(Refused, match=says):
        query.answer(spark, asked(sql, as_of="0/10"))


@pytest.mark.parametrize("moment", [{"as_of": ""}, {"since": ""}])
def test_an_empty_moment_is_none(spark: SparkSession, lake: None, moment: dict[str, str]) -> None:
    with pytest.raises(Refused, match="'' is not a moment"):
        query.answer(spark, asked("SELECT value FROM shop_cow.t", **moment))


def test_a_position_of_the_source(spark: SparkSession, lake: None) -> None:
    sql = "SELECT value FROM shop_cow.t"
    assert query.answer(spark, asked(sql, as_of="0/65"))["rows"] == [["a"]]
    assert query.answer(spark, asked(sql, as_of="0/C8"))["rows"] == [["a"]]
    assert query.answer(spark, asked(sql, since="0/65"))["rows"] == [["b"]]
    assert query.answer(spark, asked(sql, since="0/64FF"))["rows"] == []


@pytest.mark.parametrize("moment", [{"as_of": "1/C9"}, {"since": "0/65", "until": "0/C9"}])
def test_a_position_that_the_table_has_not_come_to(spark: SparkSession, lake: None, moment: dict[str, str]) -> None:
    """The next commit may still be of before it."""
    with pytest.raises(Refused, match=r"/t has reached LSN 0/C8, not ./C9: wait"):
        query.answer(spark, asked("SELECT value FROM shop_cow.t", **moment))


def test_read_optimised_views_do_not_know_what_changed(spark: SparkSession, lake: None) -> None:
    with pytest.raises(Refused, match=r"shop_mor\.t_ro does not know what changed; query shop_mor\.t_rt"):
        query.answer(spark, asked("SELECT value FROM shop_mor.t_ro", since="0/65"))


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1",
        "WITH x AS (SELECT 1) SELECT * FROM x",
        "VALUES (1)",
        "FROM range(1) SELECT 1",
        "TABLE here",
        "SHOW DATABASES",
        "DESCRIBE here",
        "EXPLAIN SELECT * FROM here",
    ],
)
def test_what_reads_is_done(spark: SparkSession, sql: str) -> None:
    spark.range(1).createOrReplaceTempView("here")
    assert query.answer(spark, asked(sql))["rows"]


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO a.t SELECT 1",
        "INSERT OVERWRITE DIRECTORY '{folder}' USING parquet SELECT 1",
        "WITH x AS (SELECT 1) INSERT INTO a.t SELECT * FROM x",
        "FROM a.t INSERT INTO a.u SELECT * INSERT INTO a.v SELECT *",
        "UPDATE a.t SET n = 1",
        "DELETE FROM a.t",
        "MERGE INTO a.t USING a.u ON t.n = u.n WHEN MATCHED THEN DELETE",
        "CREATE TABLE a.t (n int)",
        "CREATE TABLE t USING parquet LOCATION '{folder}' AS SELECT 1 AS n",
        "CREATE TEMPORARY VIEW t AS SELECT 1",
        "DROP TABLE a.t",
        "ALTER TABLE a.t ADD COLUMNS (m int)",
        "TRUNCATE TABLE a.t",
        "REFRESH TABLE a.t",
        "CALL show_commits(table => 'a.t')",
        "SET x = 1",
        "RESET",
        "CACHE TABLE a.t",
        "USE default",
        "ADD JAR 'x.jar'",
        "SELECT TRANSFORM(1) USING 'touch {folder}' AS (n)",
    ],
)
def test_what_writes_is_refused_and_not_done(spark: SparkSession, tmp_path: Path, sql: str) -> None:
    folder = tmp_path / "made"
    with pytest.raises(Refused, match=r"lake sql only reads: queries, SHOW, DESCRIBE and EXPLAIN; .* was not executed"):
        query.answer(spark, asked(sql.format(folder=folder)))
    assert not folder.exists()


@pytest.mark.parametrize(
    ("sql", "value"),
    [
        ("12345678901234567.89", "12345678901234567.89"),
        ("10.50", "10.50"),
        ("CAST(0 AS decimal(20,10))", "0.0000000000"),
        ("CAST('99999999999999999999999999999999999999' AS decimal(38,0))", "99999999999999999999999999999999999999"),
        ("array(struct(1.10 AS d, 2.5D AS f), NULL)", [{"d": "1.10", "f": 2.5}, None]),
        ("map('k', 1.10)", {"k": "1.10"}),
        ("0.1D", 0.1),
        ("CAST('NaN' AS double)", "NaN"),
        ("9007199254740993L", 9007199254740993),
        ("timestamp'2026-11-21 12:30:00.123456'", "2026-11-21T12:30:00.123456Z"),
        ("timestamp_micros(-9223372036854775808)", "-290308-12-21T19:59:05.224192Z"),
        ("date'-0043-03-15'", "-0043-03-15"),
        ("'${x}'", "${x}"),
        ("NULL", None),
    ],
)
def test_values(spark: SparkSession, sql: str, value: Any) -> None:
    assert query.answer(spark, asked(f"SELECT {sql} AS v"))["rows"] == [[value]]


def test_columns_of_the_same_name(spark: SparkSession) -> None:
    found = query.answer(spark, asked("SELECT 1 AS x, 'two' AS x, 3 AS `a.b`"))
    assert (found["columns"], found["types"]) == (["x", "x", "a.b"], ["int", "string", "int"])
    assert found["rows"] == [[1, "two", 3]]


def test_fields_of_the_same_name_are_refused(spark: SparkSession) -> None:
    with pytest.raises(Refused, match="two fields of a struct have the same name"):
        query.answer(spark, asked("SELECT struct(1 AS x, 2 AS x)"))


def test_a_metastore_that_is_gone_is_not_the_fault_of_the_statement(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    def parsed(*_: object) -> None:
        raise AnalysisException("org.apache.hadoop.hive.ql.metadata.HiveException: Unable to instantiate the client")

    monkeypatch.setattr(parse, "parsed", parsed)
    with pytest.raises(AnalysisException, match="HiveException"):
        query.answer(spark, asked("SELECT 1"))
