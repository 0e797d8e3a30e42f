"""What Kafka Connect's answers mean."""

from typing import Any

import httpx
import pytest

from lake.clients.connect import Connect, cause

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


def test_a_failure_is_told_by_its_innermost_cause() -> None:
    trace = """org.apache.kafka.connect.errors.ConnectException: Tolerance exceeded in error handler
\tat org.apache.kafka.connect.runtime.errors.RetryWithToleranceOperator.execAndHandleError(Some.java:1)
Caused by: io.debezium.DebeziumException: of the next
\t... 11 more
Caused by: org.apache.kafka.connect.errors.DataException: shop.public.t: the row with key Struct{id=7} has 11 bytes
\t... 13 more
"""
    known = "org.apache.kafka.connect.errors.DataException: shop.public.t: the row with key Struct{id=7} has 11 bytes"
    assert cause(trace) == known
    assert cause("io.debezium.DebeziumException: alone\n\tat Some.java") == "io.debezium.DebeziumException: alone"
