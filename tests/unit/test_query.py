"""A statement over the past: the cleaner may take it away while it is read."""

from argparse import Namespace

import pytest
from pyspark.sql import SparkSession

from spark_jobs import history, query
from spark_jobs.once import Refused

ASKED = Namespace(sql="SELECT n FROM shop_cow.t", as_of="0/10", since=None, until=None, config="", limit=10)


@pytest.fixture
def past(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query, "read_pipeline", lambda spark, config: None)
    monkeypatch.setattr(query, "tables", lambda pipeline: {"shop_cow.t": Namespace(path="somewhere")})
    monkeypatch.setattr(query, "_past", lambda *_: spark.range(1).toDF("n"))


def test_rows_of_a_moment_that_is_kept(spark: SparkSession, past: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "instant_of", lambda *_: "20261121123000123")
    assert query.answer(spark, ASKED)["rows"] == [{"n": 0}]


def test_a_moment_that_is_cleaned_while_it_is_read_is_refused(
    spark: SparkSession, past: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cleaned(_: object, path: str, moment: str) -> str:
        if moment == ASKED.as_of:
            return "20261121120000000"
        raise history.NoSuchMoment(f"{moment} is before 20261121123000123, the oldest moment that is kept whole")

    monkeypatch.setattr(history, "instant_of", cleaned)
    with pytest.raises(Refused, match="the oldest moment that is kept whole"):
        query.answer(spark, ASKED)


def test_tables_are_named_whole() -> None:
    pipeline = Namespace(tables=[Namespace(targets=[Namespace(hive=["shop_cow.t", "shop_cow.t_rt"])])])
    found = query.named("SELECT 1 FROM shop_cow.t_rt, x.shop_cow.t", pipeline)  # type: ignore[arg-type]
    assert list(found) == ["shop_cow.t_rt"]
