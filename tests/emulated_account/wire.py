"""Requests and answers of AWS's APIs, read and written by the models that botocore carries.

The parsers and serializers are moto's: test_contract.py says what is expected of them.
"""

import io
import json
import re
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import escape

from moto.core.parse import PROTOCOL_PARSERS
from moto.core.request import Request, determine_request_protocol
from moto.core.routing import NotFound, get_service_router
from moto.core.serialize import get_serializer_class
from moto.core.utils import get_service_model
from werkzeug.wrappers import Response

Environ = dict[str, Any]
CODE = "NotEmulated"
STATUS = 400  # no SDK takes it for a reason to try again
BODY = "emulated.body"
SCOPE = re.compile(r"Credential=[^/]+/\d+/([^/]*)/([^/]+)/aws4_request")


@dataclass(frozen=True)
class Call:
    """One request, understood."""

    service: str
    region: str
    operation: Any  # moto.core.model.OperationModel
    parameters: dict[str, Any]
    protocol: str

    def answer(self, result: dict[str, Any] | Exception) -> Response:
        made = get_serializer_class(self.service, self.protocol)(operation_model=self.operation).serialize(result)
        return Response(made["body"], status=made["status_code"], headers=dict(made["headers"]))


def signed_for(environ: Environ) -> tuple[str, str]:
    """Service and region of the signature; both empty in a request without one."""
    found = SCOPE.search(environ.get("HTTP_AUTHORIZATION", ""))
    return (found[2].lower(), found[1]) if found else ("", "")


def keep_body(environ: Environ) -> None:
    """Whoever reads the body reads all of it; S3's, which may be large, is left where it is."""
    if signed_for(environ)[0] != "s3":
        environ[BODY] = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        environ["wsgi.input"] = io.BytesIO(environ[BODY])


def read(environ: Environ, service: str, region: str) -> Call | None:
    """None when the service has no such operation."""
    request = Request({**environ, **_target(environ, service), "wsgi.input": io.BytesIO(environ[BODY])})
    try:
        operation, path = get_service_router(service).match(request)
    except NotFound:
        return None
    protocol = determine_request_protocol(get_service_model(service), request.headers.get("Content-Type"))
    parser = PROTOCOL_PARSERS[protocol](operation)
    parts = {"method": request.method, "values": request.values, "headers": request.headers}
    where = {"body": request.data, "url_path": request.path, "url_params": path}
    return Call(service, region, operation, parser.parse({**parts, **where}), protocol)


def _target(environ: Environ, service: str) -> dict[str, str]:
    """The operation as botocore's model names it; JavaScript's SDK shortens the name of CloudTrail before it."""
    given, prefix = environ.get("HTTP_X_AMZ_TARGET", ""), get_service_model(service).metadata.get("targetPrefix")
    return {"HTTP_X_AMZ_TARGET": f"{prefix}.{given.rpartition('.')[2]}"} if given and prefix else {}


def error(environ: Environ, message: str) -> Response:
    """An error of any protocol, for calls that were not understood."""
    service, text = signed_for(environ)[0], escape(message)
    described = f"<Error><Type>Sender</Type><Code>{CODE}</Code><Message>{text}</Message></Error>"
    if service == "s3":
        return Response(described, STATUS, content_type="application/xml")
    if service == "ec2":
        return Response(f"<Response><Errors>{described}</Errors></Response>", STATUS, content_type="text/xml")
    if environ.get("CONTENT_TYPE", "").startswith("application/x-www-form-urlencoded"):
        return Response(f"<ErrorResponse>{described}</ErrorResponse>", STATUS, content_type="text/xml")
    body = json.dumps({"__type": CODE, "message": message})
    return Response(body, STATUS, {"x-amzn-ErrorType": CODE}, content_type="application/json")
