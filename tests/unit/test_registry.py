"""The registry client: a schema id that nobody has is named; a registry that fails is no missing schema."""

import http.server
import json
import threading
from collections.abc import Iterator
from typing import ClassVar

import pytest

from spark_jobs.kafka.schema_registry import Registry, UnknownSchema, Unreachable

ANSWERS = {
    "/ccompat/schemas/ids/4": (200, {"schema": '{"type": "record", "name": "T", "fields": []}'}),
    "/ccompat/schemas/ids/5": (500, {}),
    "/ccompat/schemas/ids/6": (200, {"schema": '"string"'}),
    "/ccompat/subjects/t-value/versions": (200, [1, 3]),
    "/ccompat/subjects/t-value/versions/1": (200, {"schema": '{"name": "Old"}'}),
    "/ccompat/subjects/t-value/versions/3": (200, {"schema": '{"name": "New"}'}),
}


class Answers(http.server.BaseHTTPRequestHandler):
    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.asked.append(self.path)
        code, body = ANSWERS.get(self.path, (404, {}))
        self.send_response(code)
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def url() -> Iterator[str]:
    Answers.asked.clear()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/ccompat"
    server.shutdown()
    server.server_close()


def test_a_schema_is_fetched_once(url: str) -> None:
    registry = Registry(url)
    assert registry.schema(4) == registry.schema(4) == {"type": "record", "name": "T", "fields": []}
    assert Answers.asked == ["/ccompat/schemas/ids/4"]


def test_an_unknown_id_is_named(url: str) -> None:
    with pytest.raises(UnknownSchema, match=f"schema id 4294967299 is not in the registry {url}"):
        Registry(url).schema(4294967299)


def test_a_frame_without_an_id_is_no_schema(url: str) -> None:
    with pytest.raises(UnknownSchema, match="-1"):
        Registry(url).schema(-1)


def test_a_failing_registry_is_no_unknown_schema(url: str) -> None:
    with pytest.raises(Unreachable, match=f"the registry {url} answers: HTTP Error 500"):
        Registry(url).schema(5)


def test_a_registry_that_is_away_is_named() -> None:
    with pytest.raises(Unreachable, match=r"the registry http://127\.0\.0\.1:1/x does not answer: .* refused"):
        Registry("http://127.0.0.1:1/x").schema(4)


def test_a_schema_that_is_no_record(url: str) -> None:
    assert Registry(url).schema(6) == {"type": "string"}


def test_all_versions_of_a_subject_oldest_first(url: str) -> None:
    assert Registry(url).versions("t-value") == [{"name": "Old"}, {"name": "New"}]


def test_a_subject_that_nobody_has_is_named(url: str) -> None:
    with pytest.raises(UnknownSchema, match="subject u-value is not in the registry"):
        Registry(url).versions("u-value")


def test_a_subject_that_is_there(url: str) -> None:
    assert Registry(url).require("t-value") == [1, 3]
    with pytest.raises(UnknownSchema, match="subject u-value"):
        Registry(url).require("u-value")
