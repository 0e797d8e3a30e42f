"""The one door of the account: each call goes to a service written here, or to moto, or is unknown."""

from collections.abc import Callable, Iterable
from typing import Any

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.test import run_wsgi_app
from werkzeug.wrappers import Response

from tests.emulated_account import wire
from tests.emulated_account.errors import NotEmulated
from tests.emulated_account.journal import Journal
from tests.emulated_account.services.service import Answer, ApiError, Operation, Service

# Of an object. Hadoop names it again when it copies the object, which AWS's SDK refuses over HTTP.
KMS_KEY = "x-amz-server-side-encryption-aws-kms-key-id"


class Front:
    """A WSGI application."""

    def __init__(self, services: list[Service], journal: Journal) -> None:
        self._services = {service.signed: service for service in services}
        self._journal = journal
        self.heard: Callable[[], None] = lambda: None  # called once per request, before it is carried out
        self._moto = DomainDispatcherApplication(create_backend_app)

    def __call__(self, environ: wire.Environ, start: Callable[..., Any]) -> Iterable[bytes]:
        wire.keep_body(environ)
        self.heard()
        signed, region = wire.signed_for(environ)
        service = self._services.get(signed)
        return (self._own(service, region, environ) if service else self._of_moto(environ))(environ, start)

    def _own(self, service: Service, region: str, environ: wire.Environ) -> Response:
        call = wire.read(environ, service.name, region)
        method = service.operation(call.operation.name) if call else None
        if call is None or method is None:
            return self._unknown(environ) if service.whole else self._of_moto(environ)
        try:
            return call.answer(_result(method, region, call.parameters))
        except Exception as error:
            return self._crashed(environ, error)

    def _of_moto(self, environ: wire.Environ) -> Response:
        try:
            app = self._moto.get_application(environ)
        except Exception:  # moto has no such service, and says so in many ways
            return self._unknown(environ)
        try:
            body, status, headers = run_wsgi_app(app, environ, buffered=True)
        except (NotImplementedError, NotEmulated):
            return self._unknown(environ)
        except Exception as error:
            return self._crashed(environ, error)
        # S3 answers every address; it says "404" to a HEAD as Flask does.
        lost = wire.signed_for(environ)[0] != "s3" and not_routed(status, headers.get("Content-Type", ""))
        if int(status.split()[0]) >= 500 or lost:
            return self._unknown(environ)
        if "Hadoop" in environ.get("HTTP_USER_AGENT", ""):
            headers.pop(KMS_KEY, None)
        return Response(body, status=status, headers=headers)

    def _unknown(self, environ: wire.Environ) -> Response:
        self._journal.unknown.append(f"call {title(environ)}")
        return wire.error(environ, f"not emulated: {title(environ)}")

    def _crashed(self, environ: wire.Environ, error: Exception) -> Response:
        self._journal.crash(error, title(environ))
        return wire.error(environ, f"the emulator failed: {title(environ)}: {error!r}")


def _result(method: Operation, region: str, parameters: Answer) -> Answer | ApiError:
    try:
        return method(region, parameters)
    except ApiError as error:
        return error


def not_routed(status: str, content: str) -> bool:
    """Flask's own page says that moto has no such address."""
    return status.startswith("404") and content.startswith("text/html")


def title(environ: wire.Environ) -> str:
    """Service, and what is known of the operation."""
    service, _ = wire.signed_for(environ)
    target = environ.get("HTTP_X_AMZ_TARGET", "")
    if not target and environ.get("CONTENT_TYPE", "").startswith("application/x-www-form-urlencoded"):
        target = _action(environ)
    return f"{service} {target or environ['REQUEST_METHOD'] + ' ' + environ['PATH_INFO']}"


def _action(environ: wire.Environ) -> str:
    pairs = [pair.partition("=") for pair in environ[wire.BODY].decode().split("&")]
    return next((value for key, _, value in pairs if key == "Action"), "")
