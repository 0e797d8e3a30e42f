"""A Kafka Connect of dictionaries: the REST calls that the hook makes, and answers that a test plans."""

import json
import threading
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

POSTGRES = "io.debezium.connector.postgresql.PostgresConnector"
Answer = tuple[int, Any]
LOGIN = ("operator", "word")
REFUSED: Answer = (401, {"error_code": 401, "message": "log in with a user and a password"})


def secret(folder: Path, login: tuple[str, str] = LOGIN) -> Path:
    """The secret of Connect's operators as the AWS CLI leaves it."""
    path = folder / "secret" / "login"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(dict(zip(("username", "password"), login, strict=True))))
    return path


@dataclass
class FakeConnect:
    """State of the cluster. `planned` answers come before any other; `calls` are those that were not planned away."""

    url: str = ""
    login: tuple[str, str] = LOGIN
    connectors: dict[str, dict[str, str]] = field(default_factory=dict)
    errors: dict[str, list[str]] = field(default_factory=dict)  # connector -> errors about its hostname
    planned: list[Answer] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    states: dict[str, str] = field(default_factory=dict)  # of connectors that do not simply run

    def answer(self, method: str, path: str, body: Any) -> Answer:
        if self.planned:
            return self.planned.pop(0)
        self.calls.append(f"{method} {path}")
        parts = [unquote(part) for part in path.split("?")[0].strip("/").split("/")]
        if parts == ["connector-plugins"]:
            return 200, [{"class": POSTGRES, "type": "source", "version": "3.7.0.Final"}]
        if parts[0] == "connector-plugins":
            return 200, self.validated(body)
        if len(parts) == 3 and parts[2] != "config":
            return self.told(parts[1], parts[2])
        if method == "GET":
            return 200, {name: {"info": {"config": config}} for name, config in self.connectors.items()}
        return self.put(parts[1], body) if method == "PUT" else self.delete(parts[1])

    def validated(self, settings: dict[str, str]) -> Any:
        errors = self.errors.get(settings["name"], [])
        hostname = {"name": "database.hostname", "value": None, "errors": errors}
        return {"error_count": len(errors), "configs": [{"value": {"name": "name", "errors": []}}, {"value": hostname}]}

    def put(self, name: str, settings: dict[str, str]) -> Answer:
        status = 200 if name in self.connectors else 201
        self.connectors[name] = settings
        return status, {"name": name, "config": settings}

    def told(self, name: str, word: str) -> Answer:
        if name not in self.connectors:
            return 404, {"error_code": 404, "message": f"No status found for connector {name}"}
        if word != "status":
            self.states[name] = "PAUSED" if word == "pause" else "RUNNING"
            return 202, None
        state = self.states.get(name, "RUNNING")
        task = {"id": 0, "state": state, **({"trace": "a reason\n\tat a line"} if state == "FAILED" else {})}
        return 200, {"name": name, "connector": {"state": state}, "tasks": [task]}

    def delete(self, name: str) -> Answer:
        gone = self.connectors.pop(name, None)
        return (204, None) if gone else (404, {"error_code": 404, "message": f"Connector {name} not found"})

    def changes(self) -> list[str]:
        return [call for call in self.calls if not call.startswith("GET") and "validate" not in call]


@contextmanager
def serving(fake: FakeConnect) -> Iterator[FakeConnect]:
    class Handler(BaseHTTPRequestHandler):
        def respond(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            known = self.headers.get("Authorization") == f"Basic {b64encode(':'.join(fake.login).encode()).decode()}"
            status, content = fake.answer(self.command, self.path, body) if known else REFUSED
            text = b"" if content is None else json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_PUT = do_POST = do_DELETE = respond

        def log_message(self, *arguments: Any) -> None:
            """Nothing: pytest shows what failed."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    fake.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield fake
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def connect() -> Iterator[FakeConnect]:
    with serving(FakeConnect()) as fake:
        yield fake
