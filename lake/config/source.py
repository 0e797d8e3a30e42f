"""The PostgreSQL server that a definition names, and where the password of its administrator is.

No password is ever in a definition: it names the place of one.
"""

import re
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    StrictStr,
    model_validator,
)

from lake.config.yaml_file import as_model

SOURCE = "source"
SslMode = Literal["disable", "prefer", "require", "verify-ca", "verify-full"]
CHECKED: tuple[SslMode, ...] = ("verify-ca", "verify-full")
PLACES = "{env: NAME}, {file: PATH}, {secret: NAME}, or leave it out: ~/.pgpass is read"
HOST = re.compile(r"[A-Za-z0-9:][A-Za-z0-9._:-]*")
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def _host(name: str) -> str:
    if not HOST.fullmatch(name):
        raise ValueError("this is not the name or the address of a host | write the name alone: db.example.com")
    return name


def _variable(name: str) -> str:
    if not VARIABLE.fullmatch(name):
        raise ValueError("this is not the name of an environment variable | write env: DATABASE_PASSWORD, for example")
    return name


def _mapping(given: Any) -> Any:
    if not isinstance(given, dict | SourceServer):
        raise ValueError("a source has keys of its own | write host: and port: below it; lake init DSN does that")
    return given


def _place(given: Any) -> Any:
    """Says nothing of what was given: it may be a password."""
    if given is not None and not isinstance(given, dict | PasswordPlace):
        raise ValueError(f"a password does not belong into a definition | write {PLACES}")
    if isinstance(given, dict) and not (len(given) == 1 and set(given) <= set(PasswordPlace.model_fields)):
        raise ValueError(f"this is not the place of a password | write {PLACES}")
    return given


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class PasswordPlace(_Part):
    """Where a password is: one of these."""

    env: Annotated[StrictStr, AfterValidator(_variable)] | None = None  # an environment variable
    file: Annotated[StrictStr, Field(min_length=1)] | None = None  # a file whose first line it is
    secret: Annotated[StrictStr, Field(min_length=1)] | None = None  # of AWS Secrets Manager: username and password


class SourceServer(_Part):
    """A PostgreSQL server of one's own. user: an administrator, who prepares the capture and makes the lake's roles."""

    host: Annotated[StrictStr, AfterValidator(_host)]
    port: Annotated[StrictInt, Field(ge=1, le=65535)] = 5432
    user: Annotated[StrictStr, Field(min_length=1)] = "postgres"
    password: Annotated[PasswordPlace | None, BeforeValidator(_place)] = None  # none: ~/.pgpass
    sslmode: SslMode | None = None  # default: verify-full with a ca_file, otherwise require
    ca_file: Annotated[StrictStr, Field(min_length=1)] | None = None  # authorities of the server's certificate, as PEM
    # The server may keep its log without a limit while the lake is away (max_slot_wal_keep_size is -1).
    unlimited_log: StrictBool = False

    @model_validator(mode="after")
    def _authorities_are_known(self) -> "SourceServer":
        if self.sslmode in CHECKED and self.ca_file is None:
            now = "name a PEM file in ca_file; /etc/ssl/certs/ca-certificates.crt has the public authorities"
            raise ValueError(f"sslmode {self.sslmode} needs the authorities of the server's certificate | {now}")
        return self

    @property
    def mode(self) -> SslMode:
        """The sslmode that is used."""
        return self.sslmode or ("verify-full" if self.ca_file else "require")

    @property
    def tls(self) -> dict[str, str]:
        """sslmode and sslrootcert, as libpq, pgjdbc and Debezium call them."""
        return {"sslmode": self.mode, **({"sslrootcert": self.ca_file} if self.ca_file else {})}

    @property
    def place(self) -> str:
        """host:port, for messages."""
        return f"{self.host}:{self.port}"


Source = Annotated[SourceServer, BeforeValidator(_mapping)]


def source_of(content: dict[str, Any], path: Path) -> SourceServer | None:
    """The source of a definition that is not read as a whole."""
    given = with_located(content, path).get(SOURCE)
    return None if given is None else as_model(SourceServer, _mapping(given), path)


def with_located(content: dict[str, Any], path: Path) -> dict[str, Any]:
    """A definition with absolute paths of the files of its source. path: of the definition, next to which they are."""
    source = content.get(SOURCE)
    if not isinstance(source, dict):
        return content
    located = {**source, **_absolute(source, "ca_file", path)}
    if isinstance(source.get("password"), dict):
        located["password"] = {**source["password"], **_absolute(source["password"], "file", path)}
    return {**content, SOURCE: located}


def _absolute(keys: dict[str, Any], key: str, path: Path) -> dict[str, Any]:
    if not isinstance(keys.get(key), str):
        return {}
    return {key: str((path.parent / Path(keys[key]).expanduser()).resolve())}
