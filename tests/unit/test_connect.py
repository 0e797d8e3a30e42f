"""What Kafka Connect's answers mean."""

from typing import Any

import pytest

from lake.clients.connect import Connect
from lake.clients.reconcile import root_cause
from lake.config.environment import load_environment

CHANGE = {"lsn": 25, "ts_usec": 1}


class Answering(Connect):
    """A worker that gives one answer to everything; None is that there is no such connector."""

    def __init__(self, answer: dict[str, Any] | None) -> None:
        super().__init__(load_environment())
        self.answer = answer

    def call(self, method: str, path: str, settings: Any = None, unless: int = 0) -> Any:
        assert self.answer is not None or unless == 404
        return self.answer


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
    assert Answering(body).snapshotting("source_postgres_moma") is snapshotting


def test_what_is_not_there_reads_nothing() -> None:
    assert not Answering(None).snapshotting("source_postgres_moma")


def test_a_failure_is_told_by_its_innermost_cause() -> None:
    trace = """org.apache.kafka.connect.errors.ConnectException: Tolerance exceeded in error handler
\tat org.apache.kafka.connect.runtime.errors.RetryWithToleranceOperator.execAndHandleError(Some.java:1)
Caused by: io.debezium.DebeziumException: of the next
\t... 11 more
Caused by: org.apache.kafka.connect.errors.DataException: shop.public.t: the row with key Struct{id=7} has 11 bytes
\t... 13 more
"""
    known = "org.apache.kafka.connect.errors.DataException: shop.public.t: the row with key Struct{id=7} has 11 bytes"
    assert root_cause(trace) == known
    assert root_cause("io.debezium.DebeziumException: alone\n\tat Some.java") == "io.debezium.DebeziumException: alone"
