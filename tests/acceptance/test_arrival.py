"""Cases A1 to A8: the first snapshot of the MoMA collection, from topic to table, before anything changes."""

import json
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from confluent_kafka.admin import AdminClient

from lake.clients.connect import Connect
from lake.clients.kafka import Broker
from lake.config.definition import Database
from lake.config.environment import Environment
from lake.rendering import sales
from lake.rendering.topics import Topic
from tests.acceptance.museum import ARTISTS, Museum, Seen
from tests.envelope import envelope_connector
from tests.integration import readers
from tests.remains import delete_topics, drop_slot

pytestmark = pytest.mark.integration
ARTIST_TOPIC = "moma.public.artists"
ARTIST_1 = {
    "artist_id": 1,
    "name": "Robert Arneson",
    "nationality": "American",
    "gender": "Male",
    "birth_year": 1930,
    "death_year": 1992,
}
PREFIX = "plain"
ENVELOPES = Database.model_validate({"database": "moma", "tables": {"public.artists": ARTISTS}})


@pytest.fixture(scope="module")
def home(museum: Museum) -> Environment:
    return museum.lake.home


@pytest.fixture
def envelopes(home: Environment) -> Iterator[str]:
    """The topic of a second connector, without unwrap, which is gone afterwards with all that it made."""
    config = envelope_connector(ENVELOPES, home, PREFIX)
    made = [f"{PREFIX}.public.artists", f"__debezium-heartbeat.{PREFIX}"]
    for name in made:
        Broker(home.kafka_bootstrap).create(Topic(name, 1, 1))
    Connect(home).put(config)
    yield made[0]
    httpx.delete(
        f"{home.connect}/connectors/{config['name']}", trust_env=False, auth=home.connect_login
    ).raise_for_status()
    drop_slot(home, config["slot.name"])
    delete_topics(home, made)


@pytest.mark.deviation("Debezium 3 says `first` for the first row of a snapshot; the post's said `true`")
def test_a1_envelope(home: Environment, envelopes: str) -> None:
    readers.wait_for_end(home, envelopes, 15_089)
    records = readers.topic_records(home, envelopes)
    first, second = records[0], records[1]
    assert first["before"] is None
    assert first["after"] == ARTIST_1
    assert first["op"] == "r"
    source = first["source"]
    assert (source["db"], source["schema"], source["table"]) == ("moma", "public", "artists")
    # The post's Debezium 1.7 said "true" on every row; since 2.0 the first row of a snapshot says "first".
    assert (source["snapshot"], second["source"]["snapshot"]) == ("first", "true")
    assert len(records) == 15_089


@pytest.mark.deviation("one more field, `__run`: which run of the connector sent the record (ADR 23)")
def test_a2_flat_record(home: Environment) -> None:
    record = readers.topic_records(home, ARTIST_TOPIC)[0]
    lsn, committed, run = (record.pop(name) for name in ("__lsn", "__source_ts_ms", "__run"))
    assert record == {
        **ARTIST_1,
        "__op": "r",
        "__db": "moma",
        "__table": "artists",
        "__schema": "public",
        "__deleted": "false",
    }
    assert len(record) + 2 == 13
    assert type(lsn) is int and lsn > 0
    assert type(committed) is int and committed > 1_600_000_000_000
    assert type(run) is int and run > 1_600_000_000_000  # ours: the post's record has no such field


def test_a3_topics(museum: Museum, home: Environment) -> None:
    status = [Connect(home).status(database.connector) for database in museum.lake.definitions()]
    assert {part["state"] for one in status for part in [one["connector"], *one["tasks"]]} == {"RUNNING"}
    topics = AdminClient({"bootstrap.servers": home.kafka_bootstrap}).list_topics(timeout=10).topics
    own = {name for name in topics if not name.startswith("__")}
    others = {name for name in own if name.count(".") == 2 and not name.startswith("moma.")}
    others |= {topic for job in sales.JOBS.values() for topic in (job.source, job.sink)}
    assert own - others == {
        "moma.public.artists",
        "moma.public.artworks",
        "connect-configs",
        "connect-offsets",
        "connect-status",
    }


def test_a4_bronze(museum: Museum, home: Environment) -> None:
    """The post's path below topics/; the keys start with the layer's own folder."""
    files = readers.bronze_files(museum.spark, home, ARTIST_TOPIC)
    assert sorted(files) == readers.object_keys(home, "bronze/topics/moma.public.artists/")
    name = re.compile(r"bronze/topics/moma\.public\.artists/partition=0/moma\.public\.artists\+0\+(\d{10})\.avro")
    starts = {int(found[1]): files[key] for key in files if (found := name.fullmatch(key))}
    assert len(starts) == len(files)
    following = 0
    for start, rows in sorted(starts.items()):
        assert start == following
        assert [row["__offset"] for row in rows] == list(range(start, start + len(rows)))
        assert len(rows) <= 10_000
        following += len(rows)
    assert following == 15_089
    assert readers.source_rows(home, "moma", "SELECT count(*) FROM artists") == [(15_089,)]


@pytest.mark.deviation("read at ccompat v7: Apicurio 3 has no v6")
def test_a5_registry(home: Environment) -> None:
    """Read at ccompat v7: the registry's line 3 no longer has v6."""
    subjects = ask(home, "subjects")
    assert sorted(name for name in subjects if name.startswith("moma.")) == [
        "moma.public.artists-key",
        "moma.public.artists-value",
        "moma.public.artworks-key",
        "moma.public.artworks-value",
    ]
    latest = ask(home, "subjects/moma.public.artists-value/versions/latest")
    schema = json.loads(latest["schema"])
    assert (schema["type"], schema["name"], schema["namespace"]) == ("record", "Value", "moma.public.artists")
    types = {field["name"]: field["type"] for field in schema["fields"]}
    assert kind(types.pop("artist_id")) == "int"
    assert kind(types.pop("__run")) == ["null", "long"]  # added since: which run of the connector sent it (ADR 23)
    assert len(types) == 12
    assert [name for name, declared in types.items() if "null" not in declared] == []


def ask(home: Environment, path: str) -> Any:
    return httpx.get(f"{home.registry}/apis/ccompat/v7/{path}", trust_env=False).raise_for_status().json()


def kind(declared: Any) -> Any:
    """The Avro type, whether or not it carries properties; a union stays a list."""
    return declared["type"] if isinstance(declared, dict) else declared


def test_a6_tables(museum: Museum) -> None:
    shown = {
        database: sorted(row.tableName for row in museum.sql(f"show tables in {database}"))
        for database in ("moma_cow", "moma_mor")
    }
    assert shown == {
        "moma_cow": ["artists", "artworks"],
        "moma_mor": ["artists_ro", "artists_rt", "artworks_ro", "artworks_rt"],
    }


def test_a6_counts(arrived: Seen) -> None:
    """The artists of the source, twice; the shipped 5,000 artworks and artwork 128447."""
    assert {view: len(rows) for view, rows in arrived.items()} == {
        "moma_mor.artworks_rt": 5_001,
        "moma_mor.artworks_ro": 5_001,
        "moma_cow.artworks": 5_001,
        "moma_mor.artists_rt": 15_089,
        "moma_mor.artists_ro": 15_089,
        "moma_cow.artists": 15_089,
        "moma_default_mor.artists_rt": 15_089,
        "moma_default_mor.artists_ro": 15_089,
        "moma_default_cow.artists": 15_089,
    }


@pytest.mark.deviation("one more column, `_order`: by it Hudi keeps the newest version (ADR 9)")
@pytest.mark.parametrize(
    ("view", "input_format", "read_optimised"),
    [
        ("artists_rt", "org.apache.hudi.hadoop.realtime.HoodieParquetRealtimeInputFormat", "false"),
        ("artists_ro", "org.apache.hudi.hadoop.HoodieParquetInputFormat", "true"),
    ],
)
def test_a7_catalogue(museum: Museum, view: str, input_format: str, read_optimised: str) -> None:
    """As the metastore has it; `_order` is this lake's own column, the rest is the post's."""
    catalogue = museum.spark._jsparkSession.sharedState().externalCatalog().unwrapped()
    table = catalogue.getRawTable("moma_mor", view)
    columns = [(field.name(), field.dataType().catalogString()) for field in table.schema().fields()]
    assert columns == [
        ("_hoodie_commit_time", "string"),
        ("_hoodie_commit_seqno", "string"),
        ("_hoodie_record_key", "string"),
        ("_hoodie_partition_path", "string"),
        ("_hoodie_file_name", "string"),
        ("artist_id", "int"),
        ("name", "string"),
        ("gender", "string"),
        ("birth_year", "int"),
        ("death_year", "int"),
        ("__deleted", "string"),  # the post has it last; Debezium 3 adds it before the others
        ("__op", "string"),
        ("__db", "string"),
        ("__table", "string"),
        ("__schema", "string"),
        ("__lsn", "bigint"),
        ("__source_ts_ms", "bigint"),
        ("_order", "bigint"),
        ("nationality", "string"),
    ]
    assert table.partitionColumnNames().mkString(",") == "nationality"
    assert table.tableType().name() == "EXTERNAL"
    assert table.storage().inputFormat().get() == input_format
    assert table.storage().properties().get("hoodie.query.as.ro.table").get() == read_optimised


@pytest.mark.parametrize("view", ["moma_cow.artists", "moma_mor.artists_rt", "moma_mor.artists_ro"])
def test_a8_row(arrived: Seen, view: str) -> None:
    (row,) = [row for row in arrived[view] if row.artist_id == 1]
    assert row._hoodie_record_key == "1"
    assert row._hoodie_partition_path == "nationality=American"
    assert row._hoodie_file_name.endswith(".parquet")
    added = {"__op": "r", "__db": "moma", "__table": "artists", "__schema": "public", "__deleted": "false"}
    expected = {**ARTIST_1, **added}
    assert {name: row[name] for name in expected} == expected
    assert row["__lsn"] > 0
    assert row["__source_ts_ms"] > 1_600_000_000_000
    assert row["_order"] == 0  # the first offset of the topic


@pytest.mark.parametrize("kind", ["cow", "mor"])
def test_a_base_file_is_as_large_as_its_rows(home: Environment, kind: str) -> None:
    folder = readers.bucket_folder(home) / "silver" / "moma" / f"artists_{kind}"
    files = list(folder.glob("nationality=*/*.parquet"))
    assert files
    assert max(file.stat().st_size for file in files) < 150_000  # 430,000 more with the key filter that no one reads
