"""The topic moma.public.artists as files of the archive, and the registry that knows its schemas."""

import io
import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlparse

import fastavro

TOPIC = "moma.public.artists"
SUBJECT = f"/apis/ccompat/v7/subjects/{TOPIC}-value/versions"
# The folder of a topic in the bucket bronze, and the digits of an offset in the name of a file.
LAYOUTS = {"archive": ("bronze/topics", 1), "s3_sink": ("s3-sink", 10)}
Row = tuple[int, str | None, str | None, str]  # id, name, nationality, deleted
ADDED = (("__op", "string"), ("__lsn", "long"), ("__source_ts_ms", "long"), ("__deleted", "string"))
FIRST = (("artist_id", "int"), ("name", ["null", "string"]), ("nationality", ["null", "string"]))
SECOND = (*FIRST, ("born", ["null", "int"]))  # after ALTER TABLE artists ADD COLUMN born int


def schema(fields: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    named = [{"name": name, "type": kind} for name, kind in (*fields, *ADDED)]
    return {"type": "record", "name": "Value", "namespace": TOPIC, "fields": named}


def put_file(s3: Any, bucket: str, layout: str, start: int, rows: Sequence[Row], born: Sequence[int] = ()) -> None:
    """One file with consecutive messages; born: of each row, in the second version of the schema."""
    wanted = schema(SECOND if born else FIRST)
    wanted["fields"].append({"name": "__offset", "type": "long"})
    records = [message(start + at, row) for at, row in enumerate(rows)]
    if born:
        records = [{**record, "born": year} for record, year in zip(records, born, strict=True)]
    content = io.BytesIO()
    fastavro.writer(content, fastavro.parse_schema(wanted), records)
    folder, digits = LAYOUTS[layout]
    key = f"{folder}/{TOPIC}/partition=0/{TOPIC}+0+{start:0{digits}}.avro"
    s3.put_object(Bucket=bucket, Key=key, Body=content.getvalue())


def message(offset: int, row: Row) -> dict[str, Any]:
    id, name, nationality, deleted = row
    added = {"__op": "d" if deleted == "true" else "u", "__lsn": offset, "__source_ts_ms": 0, "__deleted": deleted}
    return {"artist_id": id, "name": name, "nationality": nationality, **added, "__offset": offset}


class Registry:
    """The read side of the registry's interface. It answers as a proxy, so any name of a host leads to it."""

    def __init__(self) -> None:
        self.versions = [schema(FIRST)]
        self.url = ""

    def answer(self, path: str) -> Any:
        """None for what there is not."""
        if path == SUBJECT:
            return list(range(1, len(self.versions) + 1))
        folder, _, number = path.rpartition("/")
        return {"schema": json.dumps(self.versions[int(number) - 1])} if folder == SUBJECT else None


@contextmanager
def registry() -> Iterator[Registry]:
    found = Registry()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            content = found.answer(urlparse(self.path).path)
            self.send_response(404 if content is None else 200)
            self.end_headers()
            self.wfile.write(json.dumps(content).encode())

        def log_message(self, *_: Any) -> None:
            """Nobody reads it."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()
