"""The argument of `lake init`: a DSN as libpq reads it, without a password, or the name of a database of the lake."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict
from pydantic import ValidationError

from lake.config.environment import LOOPBACK
from lake.config.errors import BadInput
from lake.config.source import PLACES, SourceServer

WHERE = "command line"
FORM = "write postgresql://USER@HOST:PORT/DATABASE?sslmode=require&sslrootcert=FILE"
KNOWN = ("host", "port", "user", "dbname", "sslmode", "sslrootcert")


@dataclass(frozen=True)
class Target:
    """source: the server, None for that of the lake. keys: of `source` in the definition. database: "" for none."""

    source: SourceServer | None
    keys: dict[str, Any]
    database: str

    def with_unlimited_log(self) -> "Target":
        """It is accepted that the server keeps its log without a limit."""
        accepted = {"unlimited_log": True}
        source = self.source and self.source.model_copy(update=accepted)
        return replace(self, source=source, keys={**self.keys, **accepted})


def target(text: str, password: dict[str, str]) -> Target:
    """BadInput for a DSN that is wrong, or holds a password. password: its place, {} for ~/.pgpass."""
    if not is_dsn(text):
        return Target(None, {}, text)
    given = _parsed(text)
    keys = _keys(given, password)
    try:
        return Target(SourceServer(**keys), keys, str(given.get("dbname", "")))
    except ValidationError as error:
        (first, *_) = error.errors(include_input=False)
        what, _, now = str(first.get("ctx", {}).get("error", first["msg"])).partition(" | ")
        raise BadInput(what, WHERE, now or FORM) from None


def is_dsn(text: str) -> bool:
    return "://" in text or "=" in text


def _parsed(text: str) -> dict[str, Any]:
    """Never shows the text: it may hold a password."""
    try:
        given = conninfo_to_dict(text)
    except psycopg.Error:
        raise BadInput("the DSN can't be read", WHERE, FORM) from None
    if "password" in given:
        now = "take it out; --password-env NAME, --password-file PATH or ~/.pgpass say where it is"
        raise BadInput("the DSN holds a password, which others see in the list of processes", WHERE, now)
    if unknown := sorted(set(given) - set(KNOWN)):
        raise BadInput(f"the DSN has parameters that are not read: {', '.join(unknown)}", WHERE, FORM)
    if not str(given.get("port", "0")).isdecimal():
        raise BadInput("the port is no number", WHERE, FORM)
    if "host" not in given:
        raise BadInput("the DSN names no host, and Kafka Connect reaches a server by TCP only", WHERE, FORM)
    return given


def _keys(given: dict[str, Any], password: dict[str, str]) -> dict[str, Any]:
    """All that is not as usual; sslmode is always said. A server on this machine needs no TLS."""
    host, authorities = str(given["host"]), given.get("sslrootcert")
    usual = "verify-full" if authorities else "prefer" if host in (LOOPBACK, "localhost", "::1") else "require"
    return {
        "host": host,
        "port": int(given.get("port", 5432)),
        "user": str(given.get("user", "postgres")),
        **({"password": password} if password else {}),
        "sslmode": given.get("sslmode", usual),
        **({"ca_file": str(Path(authorities).expanduser().resolve())} if authorities else {}),
    }


def place_of_password(variable: str | None, file: str | None, secret: str | None) -> dict[str, str]:
    """BadInput for more than one place."""
    given = {"env": variable, "file": str(Path(file).expanduser().resolve()) if file else None, "secret": secret}
    named = {key: place for key, place in given.items() if place}
    if len(named) > 1:
        raise BadInput("several places of a password are given", WHERE, f"give one of {PLACES}")
    return named
