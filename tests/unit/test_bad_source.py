"""Sources, topics and tables that a definition does not fit, case by case: refused before anything is changed."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lake.config.definition import load_database, load_databases
from lake.config.environment import load_environment
from lake.config.errors import LakeError
from lake.plan import run
from lake.plan.facts import Facts
from lake.rendering.pipeline import pipeline
from lake.rendering.topics import Topic, topics
from lake.sources.change import Change
from lake.sources.engine import SourceFacts
from lake.sources.postgres.catalog import Catalog, Narrowed, SourceTable, resolved
from lake.sources.postgres.checks import findings
from lake.sources.postgres.limit import ACCEPT_UNLIMITED, SET_LIMIT
from tests.unit.refused import LOCAL, SHOP, Capture, Case, assert_refused, lay_out, table


def relation(**changed: object) -> SourceTable:
    return replace(
        SourceTable("public.a", "r", "p", ["id", "kind", "note"], [], ["id"], []),
        **changed,  # type: ignore[arg-type]
    )


Spoil = Callable[[Facts], Facts]


def with_catalog(**changed: object) -> Spoil:
    def spoil(facts: Facts) -> Facts:
        source = facts.sources["shop"]
        return replace(facts, sources={"shop": replace(source, catalog=replace(source.catalog, **changed))})

    return spoil


def with_table(**changed: object) -> Spoil:
    return with_catalog(tables={"public.a": relation(**changed)})


def with_applied(**changed: object) -> Spoil:
    return lambda facts: replace(
        facts, pipeline={**facts.pipeline, "tables": [{**facts.pipeline["tables"][0], **changed}]}
    )


def with_topics(found: dict[str, Topic]) -> Spoil:
    return lambda facts: replace(facts, topics=found)


def with_partitions(found: int, applied: int) -> Spoil:
    there = with_topics({"shop.public.a": Topic("shop.public.a", found, 1)})
    return lambda facts: with_applied(partitions=applied)(there(facts))


REALITY: list[tuple[str, Spoil, str, list[str]]] = [
    ("wal_level", with_catalog(wal_level="replica"), SHOP, ["wal_level is 'replica'", "ALTER SYSTEM"]),
    (
        "updates would fail",
        with_table(harmed=True),
        SHOP,
        ["would fail", "key tables.public.a.replica_identity", "full"],
    ),
    ("no capture role", with_catalog(missing_roles=["lake_capture"]), SHOP, ["no role lake_capture", "lake up"]),
    ("no replication", with_catalog(may_replicate=False), SHOP, ["may not replicate", "rds_replication"]),
    ("hidden rows", with_table(hidden_from=["lake_verify"]), SHOP, ["row-level security", "BYPASSRLS for lake_verify"]),
    ("inheritance", with_table(heirs=["public.b"]), SHOP, ["tables inherit from public.a", "public.b"]),
    (
        "no table",
        with_catalog(tables={}),
        SHOP,
        ["no table public.a", "shop.yaml, key tables.public.a", "create it"],
    ),
    ("a view", with_table(kind="v"), SHOP, ["public.a is a view", "the tables behind it"]),
    ("a foreign table", with_table(kind="f"), SHOP, ["public.a is a foreign table", "where its rows are"]),
    ("unlogged", with_table(persistence="u"), SHOP, ["not in the write-ahead log", "SET LOGGED"]),
    ("no primary key", with_table(key=[]), SHOP, ["without_key: append", "else multiset", "ADD PRIMARY KEY"]),
    ("a key after all", with_table(), table("{without_key: append}"), ["public.a has a key: [id]", ".without_key"]),
    (
        "partitions without a key, append-only",
        with_table(kind="p", key=[]),
        table("{without_key: append}"),
        ["public.a has partitions and no primary key"],
    ),
    (
        "several partitions of a topic without a key",
        with_table(key=[]),
        table("{without_key: multiset, topic_partitions: 2}"),
        ["no key that would keep them in one of 2 partitions", "write topic_partitions: 1"],
    ),
    (
        "virtual columns without a key",
        with_table(key=[], generated=["note"], virtual=["note"]),
        table("{without_key: append}"),
        ["virtual generated columns (note)", "leave the table out"],
    ),
    ("other key", with_table(key=["id", "kind"]), SHOP, ["(id) is no key of public.a", "write key: [id, kind]"]),
    ("no partition column", with_table(columns=["id"]), SHOP, ["no column 'kind'", "choose one of id"]),
    ("case twins", with_table(columns=["id", "kind", "N", "n"]), SHOP, ["columns N and n differ by case only"]),
    (
        "name of another",
        with_table(columns=["id", "k d", "k-d", "kind"]),
        table("{key: [id], partition: 'k-d'}"),
        ["is that of another column"],
    ),
    (
        "a key that PostgreSQL computes",
        with_table(generated=["id"]),
        SHOP,
        ["the key of public.a has generated columns: id", "leave the table out"],
    ),
    (
        "virtual columns under full",
        with_table(generated=["note"], virtual=["note"]),
        SHOP,
        ["virtual generated columns (note)", ".replica_identity", "use replica_identity: default"],
    ),
    (
        "a deferrable key under default",
        with_table(deferrable=True, harmed=True),
        table("{key: [id], replica_identity: default}"),
        ["the primary key of public.a is deferrable", ".replica_identity", "use replica_identity: full"],
    ),
    (
        "a deferrable key that later partitions inherit",
        with_table(kind="p", deferrable=True),
        SHOP,
        ["a later partition would have no replica identity", "make it immediate"],
    ),
    (
        "partitions without a key",
        with_table(kind="p", key=[], unique={"u": ["id"]}),
        SHOP,
        ["public.a has partitions and no primary key", "ADD PRIMARY KEY"],
    ),
    (
        "a unique index under default",
        with_table(key=[], unique={"u": ["id"]}),
        table("{key: [id], replica_identity: default}"),
        ["default needs the primary key", ".replica_identity", "use index, or full"],
    ),
    ("no index", with_table(), table("{key: [id], replica_identity: index}"), ["index needs a key of public.a"]),
    (
        "a foreign partition",
        with_table(kind="p", unlogged=["public.leaf"]),
        SHOP,
        ["logs no changes of partitions: public.leaf"],
    ),
    (
        "a column list of another publication",
        with_table(narrowed=[Narrowed("other", ["id"], [], True)]),
        SHOP,
        ["because of publication other", "it has a column list", "use default"],
    ),
    (
        "a row filter of another publication",
        with_table(narrowed=[Narrowed("other", None, ["kind"], True)]),
        table("{key: [id], replica_identity: default}"),
        ["because of publication other", "its row filter has kind", "use full"],
    ),
    (
        "another publication without generated columns",
        with_table(generated=["note"], narrowed=[Narrowed("other", None, [], False)]),
        SHOP,
        ["because of publication other", "does not publish the generated columns note"],
    ),
    (
        "an encoding that says nothing",
        with_catalog(encoding="SQL_ASCII"),
        SHOP,
        ["its encoding is SQL_ASCII", "createdb -E UTF8"],
    ),
    (
        "type without a place",
        with_table(unmapped=["area polygon"]),
        SHOP,
        ["types that the lake can't keep: area polygon", "docs/types.md"],
    ),
    (
        "large values and no row to take them from",
        with_table(toastable=["note"]),
        table("{key: [id], partition: kind, replica_identity: default, delete: hard}"),
        ["does not contain an unchanged large value of note", ".delete", "use delete: soft"],
    ),
    (
        "large values that a message set aside may contain",
        with_table(toastable=["note"]),
        table("{key: [id], partition: kind, replica_identity: default, on_bad_message: quarantine}"),
        [
            "does not contain an unchanged large value of note",
            ".on_bad_message",
            "use on_bad_message: stop, or replica_identity: full",
        ],
    ),
    (
        "a type with the name of one of PostgreSQL's own",
        with_table(shadowed=["kind app.date"]),
        SHOP,
        ["types that bear the name of one of PostgreSQL's own: kind app.date", "RENAME TO another name"],
    ),
    (
        "partition by time",
        with_table(types={"kind": "timestamp without time zone"}),
        SHOP,
        ["column kind is timestamp without time zone", ".partition", "choose a column of text"],
    ),
    (
        "large values without a placeholder",
        with_table(toastable=["flags", "note"], unmarked=["flags"]),
        table("{key: [id], partition: kind, replica_identity: default}"),
        ["Debezium can't say", "flags did not change", ".replica_identity", "use full"],
    ),
    (
        "partition count",
        with_partitions(found=3, applied=3),
        SHOP,
        ["has 3 partitions, not 1", "set it back to 3"],
    ),
    (
        "partitions added",
        with_partitions(found=3, applied=1),
        SHOP,
        ["has 3 partitions, not 1", "tables are stopped", "docs/runbooks/lost-topic.md"],
    ),
    ("topic gone", with_topics({}), SHOP, ["topic shop.public.a does not exist", "write epoch: 1"]),
    (
        "epoch lowered",
        with_applied(epoch=2),
        SHOP,
        ["epoch 0 is below the one applied, 2", "epoch: 2 or more"],
    ),
    ("partition changed", with_applied(partition="note"), SHOP, ["built with partition note", "set it back"]),
    ("key changed", with_applied(keys=["old"]), SHOP, ["built with key ['old']", "set it back"]),
]


@pytest.mark.parametrize(("spoil", "shop", "says"), [row[1:] for row in REALITY], ids=[row[0] for row in REALITY])
def test_reality(
    spoil: Spoil, shop: str, says: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    lay_out(tmp_path, Case("", [], shop))
    monkeypatch.setattr(run, "read_facts", lambda databases, place: spoil(settled(tmp_path)))
    monkeypatch.setattr(run, "apply", nothing_to_do)
    monkeypatch.setattr(run, "unfit", lambda *_: [])
    assert_refused(tmp_path, says, monkeypatch, capsys)


@pytest.mark.parametrize(
    ("changed", "shop"),
    [
        ({"types": {"id": "bytea", "kind": "date"}, "toastable": ["note"]}, SHOP),
        ({"types": {"id": "bytea"}, "toastable": ["note"]}, table("{key: [id], replica_identity: default}")),
        ({"types": {"id": "bytea", "kind": "text"}, "key": ["id", "kind"]}, table("{key: [id, kind]}")),
        ({}, table("{key: [id], replica_identity: default, on_bad_message: quarantine}")),
        ({"generated": ["note"]}, SHOP),
        ({"generated": ["note"], "virtual": ["note"]}, table("{replica_identity: default}")),
        ({"key": ["kind", "id"]}, table("{key: [id, kind]}")),
        ({"key": [], "unique": {"u": ["id", "kind"]}}, table("{replica_identity: index}")),
        ({"key": [], "unique": {"u": ["kind"]}}, table("{}")),
        ({"deferrable": True}, SHOP),
        ({"narrowed": [Narrowed("other", None, ["kind"], True)]}, SHOP),
    ],
)
def test_what_only_looks_like_what_is_refused(changed: dict[str, Any], shop: str, tmp_path: Path) -> None:
    (tmp_path / "shop.yaml").write_text(shop)
    catalog = Catalog("logical", [], True, {"public.a": relation(**changed)})
    assert findings(load_database(tmp_path / "shop.yaml"), catalog, partitions=1) == []


@pytest.mark.parametrize(
    ("source", "limit", "refused"),
    [
        ("source: {host: h}", "none", True),
        ("source: {host: h, unlimited_log: true}", "none", False),
        ("source: {host: h}", "16GB", False),
        ("", "none", False),  # the server of the lake has a limit
    ],
)
def test_a_log_without_a_limit_is_refused_unless_the_definition_accepts_it(
    source: str, limit: str, refused: bool, tmp_path: Path
) -> None:
    (tmp_path / "shop.yaml").write_text(f"{SHOP}\n{source}\n")
    catalog = Catalog("logical", [], True, {"public.a": relation()}, is_unlimited=limit == "none")
    found = findings(load_database(tmp_path / "shop.yaml"), catalog, partitions=1)
    assert [(one.table, one.now) for one in found] == ([("", f"{SET_LIMIT}; {ACCEPT_UNLIMITED}")] if refused else [])


@pytest.mark.parametrize(
    ("changed", "written", "applied", "key", "message_key"),
    [
        ({}, "{}", [], ("id",), ()),
        ({"key": ["kind", "id"]}, "{key: [id, kind]}", [], ("kind", "id"), ()),
        ({"key": ["kind", "id"]}, "{key: [id, kind]}", ["id", "kind"], ("id", "kind"), ()),
        ({"key": [], "unique": {"a": ["id", "kind"], "b": ["note"]}}, "{}", [], ("note",), ("note",)),
        (
            {"key": [], "unique": {"a": ["id", "kind"], "b": ["note"]}},
            "{}",
            ["id", "kind"],
            ("id", "kind"),
            ("id", "kind"),
        ),
        ({"unique": {"b": ["note"]}}, "{key: note}", [], ("note",), ("note",)),
        ({"key": []}, "{}", [], (), ()),
    ],
)
def test_the_key_is_that_of_postgresql(
    changed: dict[str, Any],
    written: str,
    applied: list[str],
    key: tuple[str, ...],
    message_key: tuple[str, ...],
    tmp_path: Path,
) -> None:
    (tmp_path / "shop.yaml").write_text(table(written))
    catalog = Catalog("logical", [], True, {"public.a": relation(**changed)})
    (found,) = resolved(load_database(tmp_path / "shop.yaml"), catalog, {"public.a": applied}).tables
    assert (found.key, found.message_key) == (key, message_key)


def test_large_values_keep_their_order_in_one_partition_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    shop = table("{key: [id], partition: kind, replica_identity: default}")
    lay_out(tmp_path, Case("", [], shop, local=LOCAL + "kafka: {partitions: 3}\n"))
    monkeypatch.setattr(run, "read_facts", lambda databases, place: with_table(toastable=["note"])(settled(tmp_path)))
    assert_refused(tmp_path, ["note of public.a may be large", "topic_partitions: 1"], monkeypatch, capsys)


def settled(root: Path) -> Facts:
    """The facts of a lake to which the definition has been applied, as far as the rules look."""
    databases, local = load_databases(root), load_environment(root=root)
    found = SourceFacts(Catalog("logical", [], True, {"public.a": relation()}), [], [])
    wanted = topics(databases[0], local)
    present = {topic.name: topic for topic in wanted}
    return Facts({"shop": found}, wanted, present, {"shop": None}, pipeline(databases, local))


def nothing_to_do(changes: list[Change], *_: object) -> dict[str, LakeError]:
    assert changes == []
    return {}
