"""What a database file means once it is read."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from lake.config.definition import Table, load_database, load_databases
from lake.config.errors import BadInput
from lake.config.naming import is_added_column
from lake.rendering.hudi import of_table
from lake.sources.postgres import names

PROJECT = Path(__file__).parents[2]


def artists(**settings: object) -> Table:
    return Table(**{"full_name": "public.artists", "key": ("artist_id",), **settings})


def test_defaults_are_the_safe_ones() -> None:
    table = artists()
    assert (table.partition, table.types, table.delete) == ((), ("mor",), "soft")
    assert (table.replica_identity, table.epoch) == ("full", 0)
    assert table.on_bad_message == "stop"


@pytest.mark.parametrize(
    ("given", "columns", "kind", "path"),
    [
        (None, (), "Nonpartitioned", ""),
        ("nationality", ("nationality",), "Simple", "nationality"),
        ("__table", ("__table",), "Simple", "__table"),
        (["nationality", "gender"], ("nationality", "gender"), "Complex", "nationality,gender"),
    ],
)
def test_partition_columns(given: object, columns: tuple[str, ...], kind: str, path: str) -> None:
    table = artists(partition=given)
    assert table.partition == columns
    options = of_table("moma_cow", table)
    assert options["hoodie.datasource.write.keygenerator.class"] == f"org.apache.hudi.keygen.{kind}KeyGenerator"
    assert options["hoodie.datasource.write.partitionpath.field"] == path
    assert options["hoodie.datasource.hive_sync.partition_fields"] == path


@pytest.mark.parametrize("given", ["", ["a", "a"], ["artist_id"]])
def test_no_partition_column(given: object) -> None:
    with pytest.raises(ValidationError):
        artists(partition=given)


def test_a_key_of_one_column_needs_no_brackets() -> None:
    assert artists(key="artist_id") == artists(key=["artist_id"])


def test_names_derive_from_schema_and_table() -> None:
    table = artists()
    assert (table.schema, table.name) == ("public", "artists")
    assert table.topic("moma") == "moma.public.artists"
    assert table.hive_names("moma_cow", "cow") == ["moma_cow.artists"]
    assert table.hive_names("moma_mor", "mor") == ["moma_mor.artists_rt", "moma_mor.artists_ro"]


def test_the_collection_of_the_museum() -> None:
    (moma,) = [found for found in load_databases(PROJECT) if found.database == "moma"]
    assert [(table.full_name, table.key, table.partition, table.types) for table in moma.tables] == [
        ("public.artists", ("artist_id",), ("nationality",), ("cow", "mor")),
        ("public.artworks", ("artwork_id",), ("classification",), ("cow", "mor")),
        ("public.departments", ("department",), (), ("mor",)),
    ]
    assert (moma.engine, moma.connector) == ("postgres", "source_postgres_moma")
    assert (names.publication(moma), names.slot(moma)) == ("lake_moma", "lake_moma")
    assert moma.heartbeat_topic == "__debezium-heartbeat.moma"


@pytest.mark.parametrize("column", ["_hoodie_commit_time", "_HOODIE_x", "__op", "__Deleted", "_order"])
def test_added_columns_are_known_in_any_case(column: str) -> None:
    assert is_added_column(column)
    assert not is_added_column(f"a{column}")


def test_a_column_may_have_a_letter_that_yaml_calls_a_boolean(tmp_path: Path) -> None:
    path = tmp_path / "shop.yaml"
    path.write_text("database: shop\ntables:\n  n.y: {key: [y, n, no_]}\n")
    (table,) = load_database(path).tables
    assert (table.full_name, table.key) == ("n.y", ("y", "n", "no_"))


def test_the_error_names_line_and_nested_key(tmp_path: Path) -> None:
    file = tmp_path / "moma.yaml"
    file.write_text("database: moma\ntables:\n  public.a: {key: [id]}\n  public.b:\n    key: [id]\n    delete: maybe\n")
    with pytest.raises(BadInput) as raised:
        load_database(file)
    assert str(raised.value) == (
        f"input should be 'soft' or 'hard', found 'maybe'; {file}:6, key tables.public.b.delete; correct the value"
    )
