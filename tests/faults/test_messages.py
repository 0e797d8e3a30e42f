"""Messages that no connector wrote."""

import base64
import io
import json
import time
from collections.abc import Callable
from datetime import datetime
from typing import Any

import fastavro
import httpx
import pytest
from confluent_kafka import Producer

from spark_jobs.archive import files as archive
from tests.faults.conftest import FIRST
from tests.faults.rig import Rig
from tests.faults.source import OTHER
from tests.faults.trial import Entry
from tests.faults.workload import until
from tests.integration import readers

pytestmark = pytest.mark.faults
TOLD_WITHIN_S = 60.0
RECENT_S = 300.0
POISON: dict[str, bytes | None] = {
    "a tombstone": None,
    "random bytes": bytes(range(200, 256)),
    "nothing": b"",
    "an unknown schema": b"\x00\x00\x7f\xff\xff" + b"\x02" * 20,
    "a frame without a row": b"\x00\x00\x00\x00\x01",
}
# These take the frame, or all, of a message that is there.
LIKE_ANOTHER: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "a row of another table": ("other", lambda value: value),
    "a row that is cut off": ("account", lambda value: value[:-4]),
    "a text of 2 GB": ("account", lambda value: value[:5] + b"\x02\x02\x02\xfe\xff\xff\xff\x0f" + b"x" * 20),
}
KINDS = [*POISON, *LIKE_ANOTHER]
UNFIT = "UPDATE account SET amount = 'NaN', version = version + 1000"
REFUSED = "column amount holds a value that DECIMAL(12,2) cannot hold"


def poison(rig: Rig, database: str, kind: str) -> bytes | None:
    """A message for the topic of account."""
    if kind in POISON:
        return POISON[kind]
    table, change = LIKE_ANOTHER[kind]
    return change(readers.topic_values(rig.home, f"{database}.public.{table}")[-1])


def produce(rig: Rig, topic: str, value: bytes | None) -> int:
    delivered: list[Any] = []
    producer = Producer({"bootstrap.servers": rig.home.kafka_bootstrap})
    producer.produce(topic, value, b"poison", on_delivery=lambda error, message: delivered.append((error, message)))
    producer.flush(10)
    assert delivered and delivered[0][0] is None, delivered
    return int(delivered[0][1].offset())


def quarantined(rig: Rig, database: str, *more: str) -> list[dict[str, Any]]:
    return list(rig.lake.json("quarantine", "list", database, *more))


@pytest.mark.matrix("31", "a table stops at a poison message: ")
@pytest.mark.parametrize("kind", KINDS)
def test_poison(rig: Rig, entry: Entry, small: str, kind: str) -> None:
    """The table stops, and names the message; the other one goes on, and so does the archive."""
    before = rig.consumed(small, "account")
    offset = produce(rig, f"{small}.public.account", poison(rig, small, kind))
    rig.execute(small, "UPDATE account SET version = version + 1000", "INSERT INTO other VALUES (1000, 1)")
    waits_in_front(rig, small, before, offset)


def waits_in_front(rig: Rig, database: str, before: list[int], offset: int, why: str = "") -> None:
    """The table of account does, and says so; its archive and the other table go on. before: what it had consumed."""
    named = f"{database}.public.account partition 0 offset {offset} can't be applied{why}"
    for name in ("cow", "mor"):
        told = f"{database}_{name}.account"
        until(lambda: stopped_by(rig, told, named), f"{told} does not stop", TOLD_WITHIN_S)  # noqa: B023
    assert rig.consumed(database, "account") == before, "the message was passed over"
    archived_to(rig, database, offset + 1)
    rig.databases[database] = (OTHER,)
    rig.reach(database)


def stopped_by(rig: Rig, name: str, reason: str) -> bool:
    status = rig.table_status(name)
    return status["state"] == "stopped" and reason in status["reason"]


def archived_to(rig: Rig, database: str, end: int, table: str = "account") -> None:
    """The archive has every offset up to there once."""
    path, topic = f"{rig.home.bucket_uri}/bronze", f"{database}.public.{table}"
    until(lambda: archive.reached(rig.spark, path, topic).get("0", 0) >= end, "it is not archived", 120, every_s=1)
    files = archive.files_of(rig.spark, path, topic)
    assert archive.faults(files, {0: 0}) == []


@pytest.mark.matrix("31", "a poison message is set aside: ")
@pytest.mark.parametrize("kind", KINDS)
def test_poison_set_aside(rig: Rig, entry: Entry, aside: str, kind: str) -> None:
    """Counted as missing until it is dropped; the table goes on meanwhile."""
    topic, value = f"{aside}.public.account", poison(rig, aside, kind)
    offset = produce(rig, topic, value)
    rig.execute(aside, "UPDATE account SET version = version + 1000", "DELETE FROM account WHERE id = 1")
    rig.lake.drain(aside)
    found = quarantined(rig, aside)
    assert [(one["offset"], one["state"]) for one in found] == [(offset, "waiting")], found
    shown = rig.lake.json("quarantine", "show", aside, found[0]["id"])
    kept = [None if shown[name] is None else base64.b64decode(shown[name]) for name in ("key", "value")]
    assert kept == [b"poison", value], "not as it came"
    assert (shown["topic"], shown["partition"]) == (topic, 0)
    assert abs(time.time() - datetime.fromisoformat(shown["set_aside_at"]).timestamp()) < RECENT_S
    assert [rig.table_status(f"{aside}_{kind}.account")["quarantined"] for kind in ("cow", "mor")] == [1, 1]
    archived_to(rig, aside, offset + 1)
    told = rig.lake.json("verify", aside)["tables"][f"{aside}.public.account"]
    assert not told["equal"] and [one["where"] for one in told["differences"]] == ["quarantine"], told
    assert f"offset {offset} is missing" in told["differences"][0]["detail"]
    assert rig.lake.json("quarantine", "drop", aside, found[0]["id"], "--yes")["dropped"] == [found[0]["id"]]
    assert quarantined(rig, aside) == []
    assert quarantined(rig, aside, "--all")[0]["settled_by"]
    proof = rig.lake.json("verify", aside)
    assert proof["equal"], proof


@pytest.mark.matrix("31", "a table stops at a value that its lake type cannot hold")
def test_unfit(rig: Rig, entry: Entry, small: str) -> None:
    """It names offset and column; the other table goes on, and so does the archive, which takes the value as it is."""
    offset, before = readers.end_of(rig.home, f"{small}.public.account"), rig.consumed(small, "account")
    rig.execute(small, f"{UNFIT} WHERE id = 1", "INSERT INTO other VALUES (1000, 1)")
    waits_in_front(rig, small, before, offset, f": {REFUSED}")


@pytest.mark.matrix("31", "a value that its lake type cannot hold is set aside")
def test_unfit_set_aside(rig: Rig, entry: Entry, aside: str) -> None:
    """The row has its next value, and the deleted one is no ghost; what was set aside counts until it is dropped."""
    offset = readers.end_of(rig.home, f"{aside}.public.account")
    rig.execute(aside, f"{UNFIT} WHERE id = 1", f"{UNFIT} WHERE id = 2")
    rig.lake.drain(aside)
    found = quarantined(rig, aside)
    assert sorted(one["offset"] for one in found) == [offset, offset + 1], found
    assert all(one["reason"].startswith(REFUSED) for one in found), found
    rig.execute(aside, "UPDATE account SET amount = 1.5 WHERE id = 1", "DELETE FROM account WHERE id = 2")
    rig.lake.drain(aside)
    archived_to(rig, aside, offset + 4)
    told = rig.lake.json("verify", aside)["tables"][f"{aside}.public.account"]
    assert {one["where"] for one in told["differences"]} == {"quarantine"}, told
    assert len(rig.lake.json("quarantine", "drop", aside, "--yes")["dropped"]) == 2
    proof = rig.lake.json("verify", aside)
    assert proof["equal"], proof


@pytest.mark.matrix("31", "a message whose schema is registered later is replayed")
def test_replay(rig: Rig, entry: Entry, aside: str) -> None:
    """In its place: a newer change of the same row stays."""
    topic = f"{aside}.public.account"
    last = readers.topic_records(rig.home, topic)[-1]
    schema = registered(rig, topic)
    later = {**schema, "fields": [*schema["fields"], {"name": "later", "type": ["null", "string"], "default": None}]}
    number = register(rig, f"{topic}-probe", {"type": "enum", "name": f"Probe_{aside}", "symbols": ["A"]}) + 1
    rows = [{**last, "id": key, "version": 5000 + key, "later": "replayed"} for key in (1, 2)]
    for row in rows:
        produce(rig, topic, framed(number, later, row))
    rig.execute(aside, "UPDATE account SET version = 9001 WHERE id = 1")
    rig.lake.drain(aside)
    refused = rig.lake.run("quarantine", "replay", aside, check=False)
    assert (refused.returncode, f"schema id {number} is not in the registry" in refused.stderr) == (1, True)
    assert register(rig, f"{topic}-value", later) == number, "somebody else registered a schema meanwhile"
    found = [one["id"] for one in quarantined(rig, aside)]
    assert rig.lake.json("quarantine", "replay", aside)["replayed"] == found
    for kind in ("cow", "mor"):
        path = f"s3a://{rig.home.bucket}/silver/{aside}/account_{kind}"
        stored = rig.spark.read.format("hudi").load(path).where("id in (1, 2, 3)").orderBy("id").collect()
        assert [(row["version"], row["later"]) for row in stored] == [(9001, None), (5002, "replayed"), (3, None)]
    assert quarantined(rig, aside) == []
    rig.execute(aside, f"UPDATE account SET version = version + 1000 WHERE id < {FIRST}")  # the source wins again
    rig.lake.drain(aside)
    proof = rig.lake.json("verify", aside)
    assert proof["equal"], proof


def registered(rig: Rig, topic: str) -> dict[str, Any]:
    value = readers.topic_values(rig.home, topic)[-1]
    address = f"{rig.home.registry}/apis/ccompat/v7/schemas/ids/{int.from_bytes(value[1:5])}"
    return dict(json.loads(httpx.get(address, trust_env=False).raise_for_status().json()["schema"]))


def register(rig: Rig, subject: str, schema: dict[str, Any]) -> int:
    address = f"{rig.home.registry}/apis/ccompat/v7/subjects/{subject}/versions"
    answer = httpx.post(address, json={"schema": json.dumps(schema)}, auth=rig.registry_login, trust_env=False)
    return int(answer.raise_for_status().json()["id"])


def framed(number: int, schema: dict[str, Any], row: dict[str, Any]) -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(schema), row)
    return b"\x00" + number.to_bytes(4) + out.getvalue()
