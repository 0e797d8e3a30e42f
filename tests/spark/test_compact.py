"""The job that requests compaction: what it asks of the streaming job, and what it says when there is no answer."""

import json
import threading
import time
from argparse import Namespace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from spark_jobs.compact import compact
from spark_jobs.runtime.batch_job import Refused
from spark_jobs.streaming.control import DONE, Control

TABLE = {
    "database": "shop",
    "schema": "public",
    "topic": "t",
    "epoch": 1,
    "keys": ["id"],
    "partition": "",
    "delete": "soft",
    "replica_identity": "full",
}


@pytest.fixture
def pipeline(tmp_path: Path) -> Path:
    """Two tables, one of them of both types."""
    path = tmp_path / "pipeline.json"
    kinds = {"a": ["cow", "mor"], "b": ["mor"]}
    target = {"path": "", "hive": [], "options": {}}
    tables = [{**TABLE, "table": name, "targets": [{**target, "type": one} for one in kinds[name]]} for name in kinds]
    rest = dict.fromkeys(("registry", "status", "metastore"), "")
    parts = {"kafka": {}, "bronze": {}, "silver": {}, "quarantine": {}, "tables": tables}
    path.write_text(json.dumps({**rest, **parts, "requests": (tmp_path / "requests").as_uri()}))
    return path


def asked(pipeline: Path, *tables: str, timeout_s: float = 60.0) -> Namespace:
    return Namespace(config=pipeline.as_uri(), tables="", table=tables, timeout_s=timeout_s)


def serve(spark: SparkSession, folder: Path, until: threading.Event, seen: list[str]) -> None:
    """The streaming job's side."""
    control = Control(spark, folder.as_uri())
    while not until.is_set():
        for one in control.pending("compact"):
            seen.append(str(one.arguments["table"]))
            control.answer(one, DONE, {})
        time.sleep(0.05)


def test_every_hudi_table_is_compacted(spark: SparkSession, pipeline: Path) -> None:
    folder, done, seen = pipeline.parent / "requests", threading.Event(), list[str]()
    server = threading.Thread(target=serve, args=(spark, folder, done, seen))
    server.start()
    try:
        result = compact(spark, asked(pipeline))
    finally:
        done.set()
        server.join()
    assert result == {"compacted": ["shop_cow.a", "shop_mor.a", "shop_mor.b"], "missing": []}
    assert set(seen) == {"shop_cow.a", "shop_mor.a", "shop_mor.b"}
    assert left(folder) == []


def test_without_an_answer_it_names_the_tables_and_leaves_no_request(spark: SparkSession, pipeline: Path) -> None:
    result = compact(spark, asked(pipeline, "shop.b", timeout_s=0.1))
    assert result == {"compacted": [], "missing": ["shop_mor.b"]}
    assert left(pipeline.parent / "requests") == []


def test_an_unknown_table_is_refused(spark: SparkSession, pipeline: Path) -> None:
    with pytest.raises(Refused, match=r"no table or database 'shop\.c' in the lake; there are: shop\.a, shop\.b"):
        compact(spark, asked(pipeline, "shop.c"))


def left(folder: Path) -> list[str]:
    """The requests and answers that lie there."""
    return [path.name for path in folder.rglob("*.json")]
