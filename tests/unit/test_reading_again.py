"""When a connector has read what it was asked for."""

import json
from typing import Any

import httpx
import pytest

from lake.connect_rest import Connect
from lake.definition import Database
from lake.errors import LakeError
from lake.reading_again import unread

MOMA = Database.model_validate({"database": "moma", "tables": {"public.artists": {"key": ["id"]}}})
LEFT = json.dumps([{"incremental_snapshot_collections_id": "public.artists"}])
SIGNAL = 100


def worker(offset: dict[str, Any], connector: str = "RUNNING", task: str = "RUNNING") -> Connect:
    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/offsets"):
            return httpx.Response(200, json={"offsets": [{"partition": {}, "offset": offset}]})
        return httpx.Response(200, json={"connector": {"state": connector}, "tasks": [{"id": 0, "state": task}]})

    connect = Connect("http://connect")
    connect._client = httpx.Client(base_url=connect.url, transport=httpx.MockTransport(answer))
    return connect


@pytest.mark.parametrize(
    ("offset", "left"),
    [
        pytest.param({}, ["the first snapshot of source_postgres_moma"], id="nothing sent yet"),
        pytest.param({"lsn": 99}, ["what source_postgres_moma was asked for"], id="the signal is not read"),
        pytest.param({"lsn": 100, "incremental_snapshot_collections": LEFT}, ["moma.public.artists"], id="reading"),
        pytest.param({"lsn": 100}, [], id="all is in Kafka"),
    ],
)
def test_the_offset_that_kafka_acknowledged_tells(offset: dict[str, Any], left: list[str]) -> None:
    assert unread(worker(offset), MOMA, SIGNAL) == left


@pytest.mark.parametrize("states", [("STOPPED", "RUNNING"), ("PAUSED", "PAUSED"), ("RUNNING", "FAILED")])
def test_a_connector_that_reads_nothing_is_not_waited_for(states: tuple[str, str]) -> None:
    with pytest.raises(LakeError, match="the connector is"):
        unread(worker({"lsn": 100}, *states), MOMA, SIGNAL)
