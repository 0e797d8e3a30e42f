"""An AWS on loopback that grants everything and writes down who asked for what: the caller's access key is its role."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qs
from xml.sax.saxutils import escape

from werkzeug.serving import WSGIRequestHandler, make_server
from werkzeug.wrappers import Response

from tests.emulated_account import wire
from tests.rights import s3_calls
from tests.rights.judge import Call

LOGIN = {"username": "u", "password": "p"}
Rights = list[tuple[str, str, dict[str, str]]]  # action, resource, context: what AWS checks for a request
SERVICES = {"monitoring": "cloudwatch", "elasticmapreduce": "emr"}  # signed for -> the name of its API


class Endpoint:
    """A WSGI application. files: what is on S3 from the beginning, by bucket/key. parameters: of Systems Manager.

    answers: more operations, each a function from the parameters to what AWS checks and the result.
    """

    def __init__(
        self,
        files: Mapping[str, Path],
        parameters: Mapping[str, str],
        answers: Mapping[str, Callable[[dict[str, Any]], tuple[Rights, dict[str, Any]]]] | None = None,
    ) -> None:
        self.calls: list[Call] = []
        self.objects: dict[str, bytes] = {}
        self._files, self._parameters = files, parameters
        self._answers: dict[str, Callable[[dict[str, Any]], tuple[Rights, dict[str, Any]]]] = {
            "GetSecretValue": self._secret,
            "GetParameter": self._parameter,
            "PutMetricData": self._metrics,
            **(answers or {}),
        }

    def __call__(self, environ: wire.Environ, start: Callable[..., Any]) -> Iterable[bytes]:
        wire.keep_body(environ)
        role = environ["HTTP_AUTHORIZATION"].partition("Credential=")[2].partition("/")[0]
        service, region = wire.signed_for(environ)
        response = self._s3(role, environ) if service == "s3" else self._other(role, service, region, environ)
        return response(environ, start)

    def _other(self, role: str, service: str, region: str, environ: wire.Environ) -> Response:
        call = wire.read(environ, SERVICES.get(service, service), region)
        if call is None or call.operation.name not in self._answers:
            return wire.error(environ, f"nobody wrote an answer for {environ['PATH_INFO']} of {service}")
        rights, result = self._answers[call.operation.name](call.parameters)
        for action, resource, context in rights:
            self.calls.append(Call(role, action, resource.format(region=region), tuple(context.items())))
        return call.answer(result)

    def _secret(self, wish: dict[str, Any]) -> tuple[Rights, dict[str, Any]]:
        return [("secretsmanager:GetSecretValue", wish["SecretId"], {})], {"SecretString": json.dumps(LOGIN)}

    def _parameter(self, wish: dict[str, Any]) -> tuple[Rights, dict[str, Any]]:
        found = {"Name": wish["Name"], "Value": self._parameters[wish["Name"]]}
        resource = f"arn:aws:ssm:{{region}}:123456789012:parameter{wish['Name']}"
        return [("ssm:GetParameter", resource, {})], {"Parameter": found}

    def _metrics(self, wish: dict[str, Any]) -> tuple[Rights, dict[str, Any]]:
        return [("cloudwatch:PutMetricData", "*", {"cloudwatch:namespace": wish["Namespace"]})], {}

    def _s3(self, role: str, environ: wire.Environ) -> Response:
        method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"].lstrip("/")
        query = {key: values[-1] for key, values in parse_qs(environ.get("QUERY_STRING", ""), True).items()}
        bucket, _, key = path.partition("/")
        found = self.content(path) if key else None
        missing = bool(key) and method in ("GET", "HEAD") and found is None
        self.calls += s3_calls.of(role, method, bucket, key, query, missing=missing)
        if method == "PUT":
            self.objects[path] = _unchunked(environ)
        if method == "DELETE":
            self.objects.pop(path, None)
        if not key and method == "GET":
            return Response(self._listing(bucket, query.get("prefix", "")), content_type="application/xml")
        if missing:
            return Response("<Error><Code>NoSuchKey</Code></Error>", 404, content_type="application/xml")
        return Response(found or b"", 204 if method == "DELETE" else 200, {"ETag": '"1"'})

    def content(self, path: str) -> bytes | None:
        if path in self.objects:
            return self.objects[path]
        return self._files[path].read_bytes() if path in self._files else None

    def _listing(self, bucket: str, prefix: str) -> str:
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        names = [name.partition("/")[2] for name in self.objects if name.startswith(f"{bucket}/{prefix}")]
        found = "".join(
            f"<Contents><Key>{escape(name)}</Key><LastModified>{now}</LastModified></Contents>" for name in names
        )
        return f"<ListBucketResult><IsTruncated>false</IsTruncated>{found}</ListBucketResult>"


def _unchunked(environ: wire.Environ) -> bytes:
    """The content of a PUT: SDKs send it in signed pieces with a trailer."""
    body: bytes = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    if "aws-chunked" not in environ.get("HTTP_CONTENT_ENCODING", ""):
        return body
    content = b""
    while body:
        head, _, rest = body.partition(b"\r\n")
        size = int(head.partition(b";")[0] or b"0", 16)
        if size == 0:
            break
        content, body = content + rest[:size], rest[size + 2 :]
    return content


class _Quiet(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"

    def log(self, *_: Any, **__: Any) -> None:
        """A line per request would hide what tests say."""


@contextmanager
def serving(endpoint: Endpoint) -> Iterator[str]:
    """The URL."""
    server = make_server("127.0.0.1", 0, endpoint, threaded=True, request_handler=_Quiet)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
