"""The definitions of the posts: they load, and give the names that the posts have."""

from pathlib import Path

import pytest

from lake.config.definition import Database, load_databases
from lake.config.environment import PROJECT, load_environment
from lake.rendering.pipeline import pipeline
from lake.rendering.streamer import refuse_unreadable


@pytest.fixture
def posts(monkeypatch: pytest.MonkeyPatch) -> list[Database]:
    monkeypatch.setenv("LAKE_DATABASES_DIR", "posts/databases")
    monkeypatch.setenv("LAKE_ENVIRONMENTS_DIR", "posts/environments")
    return load_databases(PROJECT)


def test_names_in_the_catalog(posts: list[Database]) -> None:
    names = {
        name for one in posts for table in one.tables for kind in table.types for name in one.hive_names(table, kind)
    }
    assert {
        "moma_cow.artists",
        "moma_mor.artists_rt",
        "moma_mor.artworks_ro",
        "tickit_cdc_hudi.sale",
        "tickit_cdc_hudi.sale_rt",
        "tickit_cdc_hudi.sale_ro",
        "datalake.cdc_events",
    } < names


def test_every_table_has_the_identity_of_the_posts(posts: list[Database]) -> None:
    assert {table.replica_identity for one in posts for table in one.tables} == {"default"}


def test_the_lake_stands_beside_the_products_own(posts: list[Database], monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = load_environment()
    monkeypatch.delenv("LAKE_ENVIRONMENTS_DIR")
    ours = load_environment()
    assert not set(range(theirs.port_base, theirs.port_base + 9)) & set(range(ours.port_base, ours.port_base + 9))
    assert theirs.data != ours.data
    assert Path(theirs.data).parent == PROJECT


def test_archives_have_the_forms_of_the_posts(posts: list[Database], monkeypatch: pytest.MonkeyPatch) -> None:
    found = {table["topic"]: table for table in pipeline(posts, load_environment())["tables"]}
    assert found["tickit.ecomm.listing"]["bronze"] == {"by": "day"}
    film = found["pagila.public.film"]["bronze"]
    assert (film["format"], film["max_records"], film["catalog"]["database"]) == ("parquet", 300, "pagila_bronze")
    outbox = found["northwind.datalake.cdc_events"]
    assert (outbox["format"], outbox["bronze"]["by"]) == ("json", ["customer_id", "order_id"])
    assert "bronze" not in found["moma.public.artists"]


def test_hoodie_streamer_reads_the_archives_that_it_reads_in_the_posts(posts: list[Database]) -> None:
    refuse_unreadable(posts, ["moma", "tickit"])
