"""What Kafka Connect's answers mean."""

from typing import Any

import httpx
import pytest

from lake.connect_rest import Connect

CHANGE = {"lsn": 25, "ts_usec": 1}


def answering(status: int, body: dict[str, Any]) -> Connect:
    connect = Connect("http://connect")
    transport = httpx.MockTransport(lambda request: httpx.Response(status, json=body))
    connect._client = httpx.Client(base_url=connect.url, transport=transport)
    return connect


@pytest.mark.parametrize(
    ("offsets", "snapshotting"),
    [
        pytest.param([], True, id="nothing is in Kafka yet"),
        pytest.param([{**CHANGE, "snapshot": "INITIAL", "snapshot_completed": False}], True, id="some rows are"),
        pytest.param([{**CHANGE, "snapshot": "INITIAL", "snapshot_completed": True}], False, id="the last row is"),
        pytest.param([CHANGE], False, id="a change is"),
    ],
)
def test_a_connector_reads_its_snapshot_until_kafka_has_all_rows(
    offsets: list[dict[str, Any]], snapshotting: bool
) -> None:
    body = {"offsets": [{"partition": {"server": "moma"}, "offset": offset} for offset in offsets]}
    assert answering(200, body).snapshotting("source_postgres_moma") is snapshotting


def test_what_is_not_there_reads_nothing() -> None:
    assert not answering(404, {"error_code": 404, "message": "no connector"}).snapshotting("source_postgres_moma")
