"""Bad input, case by case: one line says what, where and what now; exit code 2; nothing is changed."""

import hashlib
import json
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import psycopg
import pytest

from lake import broker, cli, moma, plan_commands, tickit
from lake.broker import Broker
from lake.connect_rest import Connect
from lake.definition import load_database, load_databases
from lake.environment import load_environment
from lake.errors import BadInput, LakeError
from lake.local.home import PROJECT, Home
from lake.local.postgres import Postgres
from lake.local.secrets import Secrets
from lake.local.stack import Stack
from lake.operate.jobs import LocalJobs
from lake.plan_facts import Facts
from lake.refusals import refuse_source
from lake.rendering.pipeline import pipeline
from lake.rendering.topics import Topic, topics
from lake.requests import refuse_stopped
from lake.source_catalog import Publication, Source, SourceTable

Capture = pytest.CaptureFixture[str]
SHOP = "database: shop\ntables:\n  public.a: {key: [id], partition: kind}\n"
LOCAL = "name: local\n"
SECRETS = {one.name: "x" for one in fields(Secrets)}


@dataclass(frozen=True)
class Case:
    """What the files say, and the words that the one line must hold."""

    name: str
    says: list[str]
    shop: str | bytes | None = SHOP
    local: str = LOCAL
    variables: dict[str, str] = field(default_factory=dict)
    file: str = "shop.yaml"


def table(settings: str) -> str:
    return f"database: shop\ntables:\n  public.a: {settings}\n"


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
    Case("no key", ["required key is missing", "tables.public.a.key", "add 'key'"], table("{partition: x}")),
    Case("no settings", ["required key is missing", "tables.public.a.key", "add 'key'"], table("")),
    Case("empty key", ["at least 1 item", "tables.public.a.key"], table("{key: []}")),
    Case("key is text", ["valid tuple", "found 'id'", "tables.public.a.key"], table("{key: id}")),
    Case("key column twice", ["'id' is given twice", "name it once"], table("{key: [id, id]}")),
    Case("wrong delete", ["'soft' or 'hard'", "found 'maybe'", ".delete"], table("{key: [id], delete: maybe}")),
    Case("wrong type", ["'cow' or 'mor'", "found 'dow'", ".types"], table("{key: [id], types: [dow]}")),
    Case("no type", ["at least 1 item", ".types"], table("{key: [id], types: []}")),
    Case("epoch is text", ["valid integer", "found 'one'", ".epoch"], table("{key: [id], epoch: one}")),
    Case("epoch below 0", ["greater than or equal to 0", ".epoch"], table("{key: [id], epoch: -1}")),
    Case("epoch too high", ["less than or equal to 32767", ".epoch"], table("{key: [id], epoch: 32768}")),
    Case("partition is the key", ["'id' is the whole key", "few values"], table("{key: [id], partition: id}")),
    Case("key of the lake", ["'_hoodie_x' is one that the lake adds"], table("{key: [_hoodie_x]}")),
    Case("partition of the lake", ["'__op' is one that the lake adds"], table("{key: [id], partition: __op}")),
    Case("no schema", ["'a' is not schema.table", "public.a"], SHOP + "  a: {key: [id]}\n"),
    Case("three parts", ["'x.y.z' is not schema.table"], SHOP + "  x.y.z: {key: [id]}\n"),
    Case("upper case", ["'Artists' is not a plain name", "a to z"], SHOP + "  public.Artists: {key: [id]}\n"),
    Case("too long", ["has 64 bytes", "PostgreSQL keeps 63"], SHOP + f"  public.{'b' * 64}: {{key: [id]}}\n"),
    Case("system schema", ["'pg_catalog' is not captured"], SHOP + "  pg_catalog.b: {key: [id]}\n"),
    Case("own schema", ["'lake' is not captured"], SHOP + "  lake.signal: {key: [id]}\n"),
    Case("Hive collision", ["public.a and other.a", "shop_cow.a"], SHOP + "  other.a: {key: [id]}\n"),
    Case("no tables", ["at least 1 item", "key tables"], "database: shop\ntables: {}\n"),
    Case("tables is a list", ["valid dictionary", "key tables"], "database: shop\ntables: [public.a]\n"),
    Case("other ending", ["not read", "shop.yml", "rename it to shop.yaml"], file="shop.yml"),
    Case("other file name", ["database 'shop' stands in a file of another name"], file="store.yaml"),
    Case("system database", ["'template1' belongs to PostgreSQL"], SHOP.replace("shop", "template1")),
    Case("environment of another name", ["environment 'prod'", "write name: local"], local="name: prod\n"),
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


def relation(**changed: object) -> SourceTable:
    name = "public.a"
    return replace(
        SourceTable(name, "r", "p", ["id", "kind", "note"], [], ["id"], [], {name: "f"}),
        **changed,  # type: ignore[arg-type]
    )


Spoil = Callable[[Facts], Facts]


def with_source(**changed: object) -> Spoil:
    return lambda facts: replace(facts, sources={"shop": replace(facts.sources["shop"], **changed)})  # type: ignore[arg-type]


def with_table(**changed: object) -> Spoil:
    return with_source(tables={"public.a": relation(**changed)})


def with_applied(**changed: object) -> Spoil:
    return lambda facts: replace(facts, pipeline={"tables": [{**facts.pipeline["tables"][0], **changed}]})


def with_topics(found: dict[str, Topic]) -> Spoil:
    return lambda facts: replace(facts, topics=found)


def with_partitions(found: int, applied: int) -> Spoil:
    there = with_topics({"shop.public.a": Topic("shop.public.a", found, 1)})
    return lambda facts: with_applied(partitions=applied)(there(facts))


REALITY: list[tuple[str, Spoil, str, list[str]]] = [
    ("wal_level", with_source(wal_level="replica"), SHOP, ["wal_level is 'replica'", "ALTER SYSTEM"]),
    ("no capture role", with_source(has_capture_user=False), SHOP, ["no role lake_capture", "lake up"]),
    ("no replication", with_source(may_replicate=False), SHOP, ["may not replicate", "rds_replication"]),
    ("hidden rows", with_table(hidden_from=["lake_verify"]), SHOP, ["row-level security", "BYPASSRLS for lake_verify"]),
    (
        "no table",
        with_source(tables={}),
        SHOP,
        ["no table public.a", "shop.yaml, key tables.public.a", "create it"],
    ),
    ("a view", with_table(kind="v"), SHOP, ["public.a is not a table"]),
    ("unlogged", with_table(persistence="u"), SHOP, ["not in the write-ahead log", "SET LOGGED"]),
    ("no primary key", with_table(key=[]), SHOP, ["has no primary key", "ADD PRIMARY KEY"]),
    ("other key", with_table(key=["id", "kind"]), SHOP, ["(id, kind), not (id)", "write key: [id, kind]"]),
    ("no partition column", with_table(columns=["id"]), SHOP, ["no column 'kind'", "choose one of id"]),
    ("column of the lake", with_table(columns=["id", "kind", "__Op"]), SHOP, ["'__Op' has the name of one"]),
    (
        "column name",
        with_table(columns=["id", "kind", "a b"]),
        SHOP,
        ["'a b' can't be named so", "rename it"],
    ),
    ("case twins", with_table(columns=["id", "kind", "N", "n"]), SHOP, ["both 'n' in lower case"]),
    (
        "generated column",
        with_table(generated=["twice"]),
        SHOP,
        ["generated columns: twice", "leave the table out"],
    ),
    (
        "type without a place",
        with_table(unmapped=["area polygon"]),
        SHOP,
        ["types without a place: area polygon", "docs/types.md"],
    ),
    (
        "large values and no row to take them from",
        with_table(toastable=["note"]),
        table("{key: [id], partition: kind, replica_identity: default, delete: hard}"),
        ["large value of note does not come", ".delete", "use delete: soft"],
    ),
    (
        "large values that a message set aside may have brought",
        with_table(toastable=["note"]),
        table("{key: [id], partition: kind, replica_identity: default, on_bad_message: quarantine}"),
        ["large value of note does not come", ".on_bad_message", "use on_bad_message: stop, or replica_identity: full"],
    ),
    (
        "bytes in a composite key",
        with_table(key=["id", "kind"], types={"kind": "bytea"}),
        table("{key: [id, kind]}"),
        ["kind is bytea", "key of several columns", "another type"],
    ),
    (
        "bytes as a key by which large values are taken over",
        with_table(toastable=["note"], types={"id": "bytea"}),
        table("{key: [id], partition: kind, replica_identity: default}"),
        ["id is bytea", "under replica_identity: default", "use replica_identity: full"],
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
        ["has 3 partitions, not 1", "tables stand still", "docs/runbooks/lost-topic.md"],
    ),
    ("topic gone", with_topics({}), SHOP, ["topic shop.public.a is gone", "write epoch: 1"]),
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
    monkeypatch.setattr(plan_commands, "read_facts", lambda databases, place: spoil(settled(tmp_path)))
    monkeypatch.setattr(plan_commands, "perform", forbidden)
    monkeypatch.setattr(plan_commands, "validate", forbidden)
    assert_refused(tmp_path, says, monkeypatch, capsys)


def test_postgres_unreachable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    lay_out(tmp_path, Case("", [], local=f"name: local\nport_base: {closed_port()}\n"))
    folder = tmp_path / ".lake"
    folder.mkdir()
    (folder / "secrets.json").write_text(json.dumps(SECRETS))
    assert_refused(tmp_path, ["PostgreSQL does not answer", "127.0.0.1:", "run: lake up"], monkeypatch, capsys)


REFUSALS = [
    ('FATAL:  password authentication failed for user "postgres"', ["refuses the password", "secrets.json", "restore"]),
    ('FATAL:  database "shop" does not exist', ["there is no database 'shop'", "databases/shop.yaml"]),
    ("connection refused\n\tIs the server running on that host?", ["PostgreSQL does not answer", "run: lake up"]),
]


@pytest.mark.parametrize(("text", "says"), REFUSALS)
def test_postgres_refuses(
    text: str, says: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    refusing(text, tmp_path, monkeypatch)
    assert_refused(tmp_path, says, monkeypatch, capsys)


@pytest.mark.parametrize("load", [moma.load, tickit.load])
@pytest.mark.parametrize(("text", "says"), REFUSALS[::2])
def test_postgres_refuses_what_would_be_loaded(
    load: Callable[[Home], object], text: str, says: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusing(text, tmp_path, monkeypatch)
    (tmp_path / "data").symlink_to(PROJECT / "data")
    with pytest.raises(BadInput) as refused:
        load(Home(load_environment(tmp_path)))
    for words in says:
        assert words in str(refused.value)


def test_a_service_does_not_wait_for_a_password_to_become_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusing(REFUSALS[0][0], tmp_path, monkeypatch)
    with pytest.raises(LakeError, match=r"refuses the password of this lake; .*secrets.json; restore"):
        Postgres(Home(load_environment(tmp_path))).ready()
    refusing(REFUSALS[2][0], tmp_path, monkeypatch)
    assert not Postgres(Home(load_environment(tmp_path))).ready()


def refusing(text: str, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lake whose PostgreSQL answers so to every login."""

    def connect(*_: object, **__: object) -> None:
        raise psycopg.OperationalError(f'connection failed: connection to server at "127.0.0.1", port 1 failed: {text}')

    if not (root / "databases").exists():
        lay_out(root, Case("", []))
        (root / ".lake").mkdir()
        (root / ".lake" / "secrets.json").write_text(json.dumps(SECRETS))
    monkeypatch.setattr(psycopg, "connect", connect)


def test_a_lake_that_was_never_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    lay_out(tmp_path, Case("", []))
    assert_refused(tmp_path, ["never started", "secrets.json", "run: lake up"], monkeypatch, capsys)
    (tmp_path / "data").symlink_to(PROJECT / "data")
    with pytest.raises(BadInput, match="never started"):
        moma.load(Home(load_environment(tmp_path)))


@pytest.mark.parametrize(
    "ask",
    [refuse_stopped, lambda home: Stack(home).restart("kafka"), lambda home: LocalJobs(home).submit("stream", print)],
    ids=["a request", "restart", "jobs submit"],
)
def test_a_lake_that_is_down(ask: Callable[[Home], object], tmp_path: Path) -> None:
    lay_out(tmp_path, Case("", []))
    with pytest.raises(BadInput, match=r"does not run; .*; run: lake up"):
        ask(Home(load_environment(tmp_path)))


def test_kafka_unreachable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broker, "TIMEOUT_S", 0.5)
    with pytest.raises(BadInput, match=r"Kafka does not answer; broker at 127.0.0.1:.*; run: lake up"):
        Broker(f"127.0.0.1:{closed_port()}").topics([Topic("a", 1, 1)])


def test_connect_unreachable() -> None:
    with pytest.raises(BadInput, match=r"Kafka Connect does not answer; http://127.0.0.1:.*; run: lake up"):
        Connect(f"http://127.0.0.1:{closed_port()}").config("a")


def lay_out(root: Path, case: Case) -> None:
    (root / "databases").mkdir()
    (root / "environments").mkdir()
    (root / "environments" / "local.yaml").write_text(case.local)
    if case.shop is not None:
        content = case.shop if isinstance(case.shop, bytes) else case.shop.encode()
        (root / "databases" / case.file).write_bytes(content)


def assert_refused(
    root: Path, says: list[str], monkeypatch: pytest.MonkeyPatch, capsys: Capture, *options: str
) -> None:
    monkeypatch.setattr(plan_commands, "PROJECT", root)
    monkeypatch.setattr(sys, "argv", ["lake", "apply", *options])
    before = fingerprint(root)
    with pytest.raises(SystemExit) as left:
        cli.main()
    out, err = capsys.readouterr()
    assert left.value.code == 2
    assert (out, err.count("\n"), err.count("; ") >= 2) == ("", 1, True), err
    for words in says:
        assert words in err
    assert fingerprint(root) == before


def settled(root: Path) -> Facts:
    """The facts of a lake to which the definition has been applied, as far as the rules look."""
    databases, local = load_databases(root), load_environment(root)
    members = frozenset({"public.a", "lake.heartbeat", "lake.signal"})
    published = Publication(members, as_wanted=True)
    found = Source("logical", True, members, {"public.a": relation()}, published, {}, frozenset())
    wanted = topics(databases[0], local)
    present = {topic.name: topic for topic in wanted}
    return Facts({"shop": found}, wanted, present, {"shop": None}, pipeline(databases, local))


def forbidden(*_: object, **__: object) -> None:
    raise AssertionError("something would have been changed")


def fingerprint(root: Path) -> dict[str, str]:
    files = sorted(path for path in root.rglob("*") if path.is_file())
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def closed_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.parametrize(
    ("changed", "shop"),
    [
        ({"types": {"id": "bytea", "kind": "date"}, "toastable": ["note"]}, SHOP),
        ({"types": {"id": "bytea"}}, table("{key: [id], replica_identity: default}")),
        ({"types": {"id": "uuid", "kind": "text"}, "key": ["id", "kind"]}, table("{key: [id, kind]}")),
        ({}, table("{key: [id], replica_identity: default, on_bad_message: quarantine}")),
    ],
)
def test_what_only_looks_like_what_is_refused(changed: dict[str, Any], shop: str, tmp_path: Path) -> None:
    (tmp_path / "shop.yaml").write_text(shop)
    source = Source("logical", True, frozenset(), {"public.a": relation(**changed)}, None, {}, frozenset())
    refuse_source(load_database(tmp_path / "shop.yaml"), source)


def test_large_values_keep_their_order_in_one_partition_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    shop = table("{key: [id], partition: kind, replica_identity: default}")
    lay_out(tmp_path, Case("", [], shop, local=LOCAL + "kafka: {partitions: 3}\n"))
    monkeypatch.setattr(
        plan_commands, "read_facts", lambda databases, place: with_table(toastable=["note"])(settled(tmp_path))
    )
    assert_refused(tmp_path, ["note of public.a may be large", "set kafka.partitions to 1"], monkeypatch, capsys)
