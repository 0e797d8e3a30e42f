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
    "/ccompat/subjects/t-value/versions/1": (200, {"id": 7, "schema": '{"name": "Old"}'}),
    "/ccompat/subjects/t-value/versions/3": (200, {"id": 9, "schema": '{"name": "New"}'}),
}
WRITTEN = {"/ccompat/subjects/t-value/versions": (200, {"id": 12}), "/ccompat/subjects/t-value": (200, {"id": 9})}


class Answers(http.server.BaseHTTPRequestHandler):
    asked: ClassVar[list[str]] = []
    posted: ClassVar[list[tuple[str, str]]] = []

    def do_GET(self) -> None:
        self.asked.append(self.path)
        self._answer(*ANSWERS.get(self.path, (404, {})))

    def do_POST(self) -> None:
        text = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.posted.append((self.headers.get("Authorization", ""), text))
        self._answer(*WRITTEN.get(self.path, (404, {})))

    def _answer(self, code: int, body: dict[str, object]) -> None:
        self.send_response(code)
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def url() -> Iterator[str]:
    Answers.asked.clear()
    Answers.posted.clear()
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


def test_schemas_of_a_subject_by_the_id_of_their_frames(url: str) -> None:
    assert Registry(url).by_id("t-value") == {7: {"name": "Old"}, 9: {"name": "New"}}


def test_a_schema_is_registered_with_a_login_and_always_as_the_same_text(url: str) -> None:
    registry = Registry(url, "writer:secret")
    first, second = {"type": "record", "name": "T"}, {"name": "T", "type": "record"}
    assert [registry.register("t-value", one) for one in (first, second)] == [12, 12]
    assert Answers.posted[0] == Answers.posted[1]
    login, text = Answers.posted[0]
    assert login == "Basic d3JpdGVyOnNlY3JldA=="
    assert json.loads(json.loads(text)["schema"]) == first


def test_the_id_of_a_schema_is_looked_up_without_a_login(url: str) -> None:
    assert Registry(url).id_of("t-value", {"type": "int"}) == 9
    assert Answers.posted[0][0] == ""
    with pytest.raises(UnknownSchema, match="subject other-value does not have this schema"):
        Registry(url).id_of("other-value", {"type": "int"})
