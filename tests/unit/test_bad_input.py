"""Bad definitions and environments, case by case: one line says what, where and what now; nothing is changed."""

from pathlib import Path

import pytest

from tests.unit.refused import SHOP, Capture, Case, assert_refused, lay_out, table

FILES = [
    Case("no database file", ["no database is defined", "databases", "create databases/"], shop=None),
    Case("broken YAML", ["not valid YAML", "shop.yaml:2", "correct the YAML there"], "database: shop\nx: [1\n"),
    Case("a tab", ["not valid YAML", "shop.yaml:3"], "database: shop\ntables:\n\tpublic.a: 1\n"),
    Case("empty file", ["found nothing", "shop.yaml", "README"], ""),
    Case("a list", ["found a list", "shop.yaml"], "- database: shop\n"),
    Case("not UTF-8", ["not UTF-8", "byte 10", "save the file as UTF-8"], b"database: \xff\n"),
    Case("a table twice", ["duplicate key 'public.a'", "shop.yaml:4"], SHOP + "  public.a: {key: [id]}\n"),
    Case(
        "unknown key",
        ["unknown key", "shop.yaml:3", "tables.public.a.keys", "mean 'key'?"],
        table("{keys: [id]}"),
    ),
    Case("unknown top key", ["unknown key", "shop.yaml:4, key table", "mean 'tables'?"], SHOP + "table: 1\n"),
    Case("key is a number", ["valid tuple", "found 1", "tables.public.a.key"], table("{key: 1}")),
    Case("name of a table", ["unknown key", "did you mean 'lake_name'?"], table("{key: id, name: x}")),
    Case("key column twice", ["'id' is written twice", "write it once"], table("{key: [id, id]}")),
    Case("wrong delete", ["'soft' or 'hard'", "found 'maybe'", ".delete"], table("{key: [id], delete: maybe}")),
    Case("wrong type", ["'cow' or 'mor'", "found 'dow'", ".types"], table("{key: [id], types: [dow]}")),
    Case("no type", ["at least 1 item", ".types"], table("{key: [id], types: []}")),
    Case("epoch is text", ["valid integer", "found 'one'", ".epoch"], table("{key: [id], epoch: one}")),
    Case("epoch below 0", ["greater than or equal to 0", ".epoch"], table("{key: [id], epoch: -1}")),
    Case("epoch too high", ["less than or equal to 32767", ".epoch"], table("{key: [id], epoch: 32768}")),
    Case("partition is the key", ["'id' is the whole key", "few values"], table("{key: [id], partition: id}")),
    Case("no name", ["'' is no name"], table("{key: ['']}")),
    Case("no schema", ["'a' is not schema.table", "public.a"], SHOP + "  a: {key: [id]}\n"),
    Case("three parts", ["'x.y.z' is not schema.table"], SHOP + "  x.y.z: {key: [id]}\n"),
    Case("upper case", ["'Artists' is not a plain name", "a to z"], table("{key: [id], lake_name: Artists}")),
    Case("too long", ["has 64 bytes", "PostgreSQL keeps 63"], SHOP + f"  public.{'b' * 64}: {{key: [id]}}\n"),
    Case("system schema", ["'pg_catalog' is not captured"], SHOP + "  pg_catalog.b: {key: [id]}\n"),
    Case("own schema", ["'lake' is not captured"], SHOP + "  lake.signal: {key: [id]}\n"),
    Case("envelope is text", ["valid boolean", "key envelope"], f"envelope: maybe\n{SHOP}"),
    Case(
        "Hive collision",
        ["public.a and other.b", "shop_mor.a_rt"],
        table("{key: [id], lake_name: a}") + "  other.b: {key: [id], lake_name: a}\n",
    ),
    Case("no tables", ["at least 1 item", "key tables"], "database: shop\ntables: {}\n"),
    Case("tables is a list", ["valid dictionary", "key tables"], "database: shop\ntables: [public.a]\n"),
    Case("other ending", ["not read", "shop.yml", "rename it to shop.yaml"], file="shop.yml"),
    Case(
        "other file name",
        [
            "database 'shop' is in a file with another name",
            ":1, key database",
            "to shop.yaml, or write database: store",
        ],
        file="store.yaml",
    ),
    Case("system database", ["'template1' belongs to the server"], SHOP.replace("shop", "template1")),
    Case(
        "unknown engine", ["no source engine 'mysql'", "key engine", "choose from: postgres"], f"engine: mysql\n{SHOP}"
    ),
    Case(
        "environment of another name",
        ["environment 'prod' is in a file with another name", ":1, key name", "to prod.yaml, or write name: local"],
        local="name: prod\n",
    ),
    Case(
        "unknown setting",
        ["unknown key", "port_bas", "mean 'port_base'?"],
        local="name: local\nport_bas: 1\n",
    ),
    Case("on AWS", ["'local' is on AWS", "key region", "cdk deploy"], local="name: local\nregion: eu-central-1\n"),
    Case("port too low", ["greater than or equal to 1024", "port_base"], local="name: local\nport_base: 80\n"),
    Case("no partitions", ["kafka.partitions", "or equal to 1"], local="name: local\nkafka: {partitions: 0}\n"),
    Case(
        "writes can't succeed",
        ["min_insync_replicas 2 exceeds replication_factor 1", "lower it"],
        local="name: local\nkafka: {min_insync_replicas: 2}\n",
    ),
    Case("memory", ["driver_memory", "'lots'"], local="name: local\nspark: {driver_memory: lots}\n"),
    Case("bucket", ["key bucket", "'My_Bucket'"], local="name: local\nbucket: My_Bucket\n"),
    Case("port variable", ["LAKE_PORT_BASE=high is not a usable port"], variables={"LAKE_PORT_BASE": "high"}),
]


@pytest.mark.parametrize("case", FILES, ids=[case.name for case in FILES])
def test_files(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    lay_out(tmp_path, case)
    for name, value in case.variables.items():
        monkeypatch.setenv(name, value)
    assert_refused(tmp_path, case.says, monkeypatch, capsys)


def test_an_unknown_environment_names_the_known_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    lay_out(tmp_path, Case("", []))
    says = ["no such file", "prod.yaml", "present there: local.yaml"]
    assert_refused(tmp_path, says, monkeypatch, capsys, "-e", "prod")


def test_an_environment_with_another_ending(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    lay_out(tmp_path, Case("", []))
    (tmp_path / "environments" / "near.yml").write_text("name: near\n")
    assert_refused(tmp_path, ["no such file", "rename near.yml to near.yaml"], monkeypatch, capsys, "-e", "near")
