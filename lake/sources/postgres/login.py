"""The login of a source's administrator, and the password from where the definition says.

A password is in no argument, no DSN and no log. What an environment variable had is kept with the lake's own passwords,
since the guardian and later commands need it, too.
"""

import json
import os
import time
from functools import lru_cache
from pathlib import Path
from typing import Any

from lake.config.environment import LOOPBACK, Environment
from lake.config.errors import BadInput
from lake.config.files import read_json, replace_json
from lake.config.source import PasswordPlace, SourceServer

ADMIN = "postgres"  # of the server that comes with the lake
KEPT = "sources.json"
SECRET_S = 300  # so long a secret is not read again: each time costs


def login(environment: Environment, source: SourceServer | None) -> dict[str, Any]:
    """Address, user and password as libpq calls them; without a password, libpq looks into ~/.pgpass."""
    if source is None:
        return {**address(environment, None), "user": ADMIN, "password": environment.secrets.postgres}
    return {**address(environment, source), "user": source.user, **_found(environment, source.password)}


def address(environment: Environment, source: SourceServer | None) -> dict[str, Any]:
    """Host, port and TLS."""
    if source is None:
        return {"host": LOOPBACK, "port": environment.ports.postgres}
    return {"host": source.host, "port": source.port, **source.tls}


def _found(environment: Environment, place: PasswordPlace | None) -> dict[str, str]:
    if place is None:
        return {}
    if place.env:
        return {"password": _of_variable(environment, place.env)}
    return {"password": _of_file(Path(place.file))} if place.file else _of_secret(str(place.secret), _window())


def _of_variable(environment: Environment, name: str) -> str:
    path = environment.data / KEPT
    kept: dict[str, str] = read_json(path) or {}
    given = os.environ.get(name) or kept.get(name)
    if not given:
        raise BadInput("the password of the source is not known", f"environment variable {name}", "set it")
    if kept.get(name) != given and environment.data.exists():
        replace_json(path, {**kept, name: given})
    return given


def _of_file(path: Path) -> str:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8"
        raise BadInput(f"the password of the source can't be read: {why}", str(path), "correct the file") from None
    if not lines or not lines[0]:
        raise BadInput("the password of the source is missing", str(path), "write it into the first line")
    return lines[0]


def _window() -> int:
    return int(time.time() // SECRET_S)


@lru_cache
def _of_secret(name: str, window: int) -> dict[str, str]:
    """User and password of a secret of AWS Secrets Manager, as the stacks expect them."""
    import boto3  # it takes longer to load than most commands take

    content = boto3.client("secretsmanager").get_secret_value(SecretId=name)["SecretString"]
    try:
        fields = json.loads(content)
        return {"user": str(fields["username"]), "password": str(fields["password"])}
    except (ValueError, KeyError, TypeError):
        now = 'store {"username": ..., "password": ...}'
        raise BadInput("the secret is not a login", f"secret {name}", now) from None
