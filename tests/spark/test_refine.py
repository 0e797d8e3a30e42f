"""Tables for analysts: what is written, which version the table shows, and what is refused."""

from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from spark_jobs import refine
from spark_jobs.runtime.batch_job import Refused

FILMS = (
    "SELECT * FROM VALUES (1, 'A', 'PG', 'false'), (2, 'B', NULL, 'false'), (3, 'C', 'G', 'true') "
    "AS film(film_id, title, rating, __deleted)"
)


def made(spark: SparkSession, folder: Path, **given: Any) -> dict[str, Any]:
    args = {"name": "films", "path": folder.as_uri(), "config": "", "table": "", "sql": FILMS, "partition": []}
    return refine.refine(spark, Namespace(**{**args, **given}))


@pytest.fixture(autouse=True)
def no_pipeline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refine, "read_pipeline", lambda spark, config: None)
    monkeypatch.setattr(refine, "chosen", lambda pipeline, name: [])


def test_rows_by_partition(spark: SparkSession, tmp_path: Path) -> None:
    result = made(spark, tmp_path, partition=["rating"])
    assert (result["rows"], result["partitions"]) == (
        3,
        [
            {"partition": "rating=G", "rows": 1},
            {"partition": "rating=PG", "rows": 1},
            {"partition": "rating=null", "rows": 1},
        ],
    )
    assert sorted(row["title"] for row in spark.sql("SELECT title FROM refined.films").collect()) == ["A", "B", "C"]
    files = list((tmp_path / "films").glob("version=*/rating=*/*.parquet"))
    assert files
    assert all(name.name.endswith(".snappy.parquet") for name in files)


def test_the_table_shows_the_last_run_and_the_run_before_stays(spark: SparkSession, tmp_path: Path) -> None:
    for title in ("first", "second", "third"):
        made(spark, tmp_path, sql=f"SELECT '{title}' AS title")
        assert [row["title"] for row in spark.sql("SELECT title FROM refined.films").collect()] == [title]
    assert len(list((tmp_path / "films").glob("version=*"))) == 2


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"sql": "DROP TABLE x"}, "DropTable was not executed"),
        ({"sql": "SELECT nothing"}, "nothing"),
        ({"sql": "SELECT"}, ""),
        ({"partition": ["colour"]}, "there is no column 'colour'; there are: film_id, title"),
        ({"sql": "SELECT 1 AS one", "partition": ["one"]}, "every column is a partition column"),
        ({"table": "pagila"}, "a table is made of one table"),
    ],
)
def test_refused_before_anything_is_written(
    spark: SparkSession, tmp_path: Path, given: dict[str, Any], says: str
) -> None:
    with pytest.raises(Refused, match=says):
        made(spark, tmp_path, **given)
    assert not list(tmp_path.iterdir())
