"""HoodieStreamer's files from the definition, and the schema and SQL that its job adds."""

import json
from argparse import ArgumentParser, Namespace
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from lake.config.definition import Database
from lake.config.environment import Environment
from lake.local.streamer import reporter
from lake.rendering.pipeline import pipeline
from lake.rendering.streamer import (
    Places,
    RunOptions,
    base_properties,
    job_arguments,
    local_places,
    streamer,
    table_properties,
    write_streamer,
)
from spark_jobs.archive.streamed_table import archive_schema
from spark_jobs.events import flatten
from spark_jobs.hudi import lease
from spark_jobs.hudi.lease import Leases
from spark_jobs.runtime.batch_job import Refused
from spark_jobs.runtime.pipeline import Table, add_names, chosen, given_names
from spark_jobs.streamer import Job, keep_writing, settled
from tests.poisoned import numeric

LOCAL = Environment(name="local", root=Path(__file__).parents[2])
REGISTERED = "http://127.0.0.1:27004/apis/ccompat/v7/subjects/shop.public.pair-value/versions/latest"
PLACES = local_places(LOCAL)
SALE = {"key": ["id"], "partition": "status", "types": ["cow", "mor"]}
PAIR = {"key": ["a", "b"], "types": ["mor"], "delete": "hard"}
SHOP = Database.model_validate({"database": "shop", "tables": {"public.sale": SALE, "public.pair": PAIR}})


def settings(text: str) -> dict[str, str]:
    """As Hudi reads a properties file."""
    return dict(line.split("=", 1) for line in text.splitlines())


def test_one_base_file_and_one_small_file_per_table_and_type() -> None:
    files = streamer([SHOP], PLACES)["files"]
    tables = ["shop.sale_cow.properties", "shop.sale_mor.properties", "shop.pair_mor.properties"]
    assert list(files) == ["base.properties", *tables]
    for name in tables:
        assert files[name].startswith("include=base.properties\n")
        assert not set(settings(files[name])) & set(settings(files["base.properties"]))


def test_a_table_file_holds_what_is_its_own() -> None:
    root = LOCAL.rendered / "streamer"
    assert settings(streamer([SHOP], PLACES)["files"]["shop.pair_mor.properties"]) == {
        "include": "base.properties",
        "hoodie.datasource.write.recordkey.field": "_key",
        "hoodie.datasource.write.partitionpath.field": "",
        "hoodie.datasource.write.keygenerator.class": "org.apache.hudi.keygen.NonpartitionedKeyGenerator",
        "hoodie.datasource.write.hive_style_partitioning": "true",
        "hoodie.datasource.write.partitionpath.urlencode": "true",
        "hoodie.datasource.hive_sync.partition_fields": "",
        "hoodie.datasource.hive_sync.partition_extractor_class": "org.apache.hudi.hive.NonPartitionedExtractor",
        "hoodie.datasource.hive_sync.database": "shop_mor_streamer",
        "hoodie.datasource.hive_sync.table": "pair",
        "hoodie.streamer.source.dfs.root": "s3a://lake/bronze/topics/shop.public.pair",
        "hoodie.streamer.schemaprovider.registry.url": REGISTERED,
        "hoodie.streamer.schemaprovider.source.schema.file": (root / "shop.pair.avsc").as_uri(),
        "hoodie.streamer.transformer.sql.file": (root / "shop.pair_mor.sql").as_uri(),
    }


def test_hoodie_streamer_sets_these_itself_and_refuses_another_value() -> None:
    refused = {"hoodie.compact.inline", "hoodie.combine.before.insert", "hoodie.combine.before.upsert"}
    assert not refused & set(base_properties(PLACES))


def test_a_bucket_index_would_take_every_new_key_for_a_duplicate() -> None:
    assert base_properties(PLACES)["hoodie.index.type"] == "RECORD_INDEX"


def test_no_table_of_this_path_is_one_of_silver() -> None:
    silver = pipeline([SHOP], LOCAL)["tables"]
    names = {name for table in silver for target in table["targets"] for name in target["hive"]}
    paths = {target["path"] for table in silver for target in table["targets"]}
    rendered = streamer([SHOP], PLACES)["targets"]
    assert {target["path"] for target in rendered} == {
        "s3a://lake/streamer/shop/sale_cow",
        "s3a://lake/streamer/shop/sale_mor",
        "s3a://lake/streamer/shop/pair_mor",
    }
    assert not paths & {target["path"] for target in rendered}
    assert not {name.partition(".")[0] for name in names} & {target["name"].partition(".")[0] for target in rendered}


def test_silver_and_hoodie_streamer_agree_on_key_and_order() -> None:
    for one, table in zip(pipeline([SHOP], LOCAL)["tables"], SHOP.tables, strict=True):
        for target in one["targets"]:
            ours = {**base_properties(PLACES), **table_properties(SHOP, table, target["type"], PLACES)}
            for name in ("recordkey.field", "precombine.field", "payload.class", "partitionpath.field"):
                assert ours[f"hoodie.datasource.write.{name}"] == target["options"][f"hoodie.datasource.write.{name}"]


def writer(*fields: tuple[str, Any]) -> dict[str, Any]:
    return {
        "type": "record",
        "name": "Value",
        "namespace": "shop",
        "fields": [{"name": name, "type": kind} for name, kind in fields],
    }


def test_one_schema_reads_the_files_of_all_versions() -> None:
    old = writer(("id", "int"), ("gone", ["null", "string"]))
    new = writer(("id", "long"), ("note", ["string", "null"]))
    assert archive_schema([old, new]) == {
        "type": "record",
        "name": "Value",
        "namespace": "shop",
        "fields": [
            {"name": "id", "type": ["null", "long"], "default": None},
            {"name": "note", "type": ["null", "string"], "default": None},
            {"name": "gone", "type": ["null", "string"], "default": None},
            {"name": "__offset", "type": "long"},
        ],
    }


def table(keys: tuple[str, ...] = ("id",), delete: str = "soft") -> Table:
    return Table("shop", "public", "t", "shop.public.t", 2, keys, None, delete, "full", ())


def rows(spark: SparkSession, table: Table, stored: tuple[str, ...] = ()) -> Any:
    """What the query makes of a live and a deleted record."""
    schema = writer(("id", "int"), ("born", {"type": "int", "connect.name": "io.debezium.time.Date"}))
    schema["fields"] += [{"name": "__deleted", "type": "string"}, {"name": "__offset", "type": "long"}]
    records = [(1, 0, "false", 5), (2, 1, "true", 6)]
    spark.createDataFrame(records, "id int, born int, __deleted string, __offset long").createOrReplaceTempView("src")
    return spark.sql(flatten.query(schema, table, "__offset", stored).replace("<SRC>", "src"))


def test_the_query_yields_the_rows_of_silver(spark: SparkSession) -> None:
    found = rows(spark, table())
    assert found.columns == ["id", "born", "__deleted", "_order"]
    epoch = 2 * 2**48
    texts = found.selectExpr("id", "cast(born as string)", "__deleted", "_order").collect()
    assert [tuple(row) for row in texts] == [
        (1, "1970-01-01", "false", epoch + 5),
        (2, "1970-01-02", "true", epoch + 6),
    ]


def test_a_record_that_lacks_a_large_value_stops_its_table(spark: SparkSession) -> None:
    schema = writer(("id", "int"), ("t", ["null", "string"]))
    added = ("__deleted", "string"), ("__unavailable", ["null", "string"]), ("__moved_from", ["null", "string"])
    schema["fields"] += [{"name": name, "type": kind} for name, kind in (*added, ("__offset", "long"))]
    text = flatten.query(schema, table(), "__offset").replace("<SRC>", "src")
    assert ";" not in text  # Hudi would end the statement there
    view = "id int, t string, __deleted string, __unavailable array<string>, __moved_from struct<id:int>, __offset long"
    records: list[Any] = [(1, "whole", "false", None, (3,), 5), (2, None, "true", ["*"], None, 6)]
    spark.createDataFrame(records, view).createOrReplaceTempView("src")
    found = spark.sql(text)
    assert found.columns == ["id", "t", "__deleted", "_order"] and found.count() == 2
    spark.createDataFrame([(1, "?", "false", ["t"], None, 7)], view).createOrReplaceTempView("src")
    with pytest.raises(Exception, match="t is missing: unchanged TOAST values are not archived"):
        spark.sql(text).collect()


def test_under_hard_delete_a_deleted_row_keeps_key_and_order_alone(spark: SparkSession) -> None:
    found = rows(spark, table(delete="hard")).collect()
    assert [row["born"] is None for row in found] == [False, True]
    assert found[1]["_order"] == 2 * 2**48 + 6


def test_a_composite_key_is_one_text(spark: SparkSession) -> None:
    found = rows(spark, table(keys=("id", "born"), delete="hard"))
    assert found.columns == ["id", "born", "__deleted", "_order", "_key"]
    assert [row["_key"] for row in found.collect()] == ['["1","1970-01-01"]', '["2","1970-01-02"]']


def test_a_value_that_its_lake_type_refuses(spark: SparkSession) -> None:
    """As in silver: it fails the query, but a delete with one keeps what fits."""
    schema = writer(("id", "int"), ("price", numeric(10, 2)), ("__deleted", "string"), ("__offset", "long"))
    query = flatten.query(schema, table(), "__offset")
    records = spark.createDataFrame([(1, "NAN", "true", 5)], "id int, price string, __deleted string, __offset long")
    records.createOrReplaceTempView("src")
    assert [(row["id"], row["price"]) for row in spark.sql(query.replace("<SRC>", "src")).collect()] == [(1, None)]
    records.withColumn("__deleted", F.lit("false")).createOrReplaceTempView("src")
    with pytest.raises(Exception, match="column price holds a value that"):
        spark.sql(query.replace("<SRC>", "src")).collect()


def test_new_columns_go_behind_those_that_the_table_has(spark: SparkSession) -> None:
    assert rows(spark, table(), ("id", "__deleted", "_order")).columns == ["id", "__deleted", "_order", "born"]


@pytest.mark.parametrize(
    ("names", "known"),
    [([], True), (["shop"], True), (["shop.t"], True), (["shop.public.t"], True), (["t"], False)],
)
def test_a_table_is_named_as_in_the_other_commands(names: list[str], known: bool) -> None:
    pipeline = Namespace(tables=[table()])
    with nullcontext() if known else pytest.raises(Refused, match="there is no table or database 't' in the lake"):
        assert chosen(pipeline, names) == [table()]  # type: ignore[arg-type]


def test_each_commit_and_each_failure_is_told_once(tmp_path: Path) -> None:
    status, told = tmp_path / "status.json", list[str]()
    look = reporter(status, told.append)
    look()
    read = {"state": "read", "commits": 1, "rows": 7, "operation": "BULK_INSERT", "instant": "20261121"}
    for one in (read, read, {**read, "state": "reading"}, {**read, "state": "failed", "reason": "disk is full"}):
        status.write_text(json.dumps({"tables": {"shop_cow_streamer.sale": one}}))
        look()
    assert told == [
        "shop_cow_streamer.sale: 7 rows in 1 commits, BULK_INSERT at 20261121",
        "shop_cow_streamer.sale: failed: disk is full",
    ]


def test_the_job_writes_the_files_where_hoodie_streamer_finds_them(spark: SparkSession, tmp_path: Path) -> None:
    """With the names of places filled in, as on EMR."""
    folder = tmp_path.as_uri()
    places = Places(
        "s3://@BRONZE@/bronze/topics", f"{folder}/@SILVER@/streamer", f"{folder}/@ARTIFACTS@/files", "@REGISTRY@/v7"
    )
    write_streamer([SHOP], places, tmp_path / "streamer.json")
    given = ["bronze=b", "silver=s", "artifacts=a", "registry=http://r:8080"]
    found = settled(spark, f"{folder}/streamer.json", given)
    assert found[0]["path"] == f"{folder}/s/streamer/shop/sale_cow"
    written = {path.name: path.read_text() for path in (tmp_path / "a/files").iterdir()}
    assert set(written) == set(streamer([SHOP], places)["files"])
    pair = settings(written["shop.pair_mor.properties"])
    assert pair["hoodie.streamer.source.dfs.root"] == "s3://b/bronze/topics/shop.public.pair"
    assert pair["hoodie.streamer.schemaprovider.registry.url"].startswith("http://r:8080/v7/")
    assert not [name for name, text in written.items() if "@" in text]
    arguments = found[0]["arguments"]
    assert arguments[arguments.index("--props") + 1] == f"{folder}/a/files/shop.sale_cow.properties"


def test_the_status_is_written_again_after_the_storage_did_not_answer() -> None:
    waits, written = iter([False, False, True]), []

    def write_status() -> None:
        written.append(1)
        if len(written) == 1:
            raise OSError("no route to the storage")

    ended: Any = SimpleNamespace(wait=lambda _: next(waits))
    keep_writing(write_status, ended)
    assert len(written) == 2


def test_no_word_of_the_command_line_is_empty() -> None:
    """A step of EMR takes none."""
    assert "" not in job_arguments(RunOptions(), streamer="x", status="y")


NAMED = [["moma", "shop.sale"], ["-moma", 'shop.public."a, b"'], []]


@pytest.mark.parametrize("names", NAMED)
def test_a_job_takes_names_as_they_are(names: list[str]) -> None:
    words = job_arguments(RunOptions(names=names), streamer="x", status="y")
    assert given_names(named().parse_known_args(words)[0]) == names


def test_names_without_a_comma_may_be_in_one_list() -> None:
    assert given_names(named().parse_args(["--tables", "moma,shop.sale", "--table", "a,b"])) == ["a,b", *NAMED[0]]


def named() -> ArgumentParser:
    options = ArgumentParser()
    add_names(options)
    return options


def test_a_second_writer_of_a_table_is_refused(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease, "RENEW_S", 0.1)
    monkeypatch.setattr(lease, "LOOK_S", 0.1)
    target = {
        "name": "shop_cow_streamer.t",
        "table": "shop.t",
        "type": "cow",
        "path": f"{tmp_path.as_uri()}/shop/t_cow",
    }
    args = Namespace(
        tables="",
        table=[],
        types="cow",
        schemas="file",
        once=True,
        continuous=False,
        status=f"{tmp_path.as_uri()}/status.json",
    )
    job = Job(spark, Namespace(registry="", tables=[table()]), [target], args)  # type: ignore[arg-type]
    other = Leases(spark, "streamer application_1", lambda reason: None)
    other.take(target["path"])
    with pytest.raises(Refused, match="t_cow is written by streamer application_1"):
        job.run()
    other.release_all()
    assert not (tmp_path / "status.json").exists()  # refused before anything was read
    assert list((tmp_path / "shop/.leases").iterdir()) == []
