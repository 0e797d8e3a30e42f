"""The passwords of one lake: made once, kept in one file that only its owner can read."""

import json
import secrets as random
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path

from lake.config.errors import BadInput
from lake.config.files import replace_json

# A lake that was made before them gets them when it is started.
LATER = ("registry_writer", "connect_operator", "kafka_connect", "kafka_jobs", "column_hashes")


@dataclass(frozen=True, repr=False)
class Secrets:
    """One password per PostgreSQL role and per user of Kafka, those of the registry's writer and Connect's operators,
    the key of the hashes of columns, and the keys of S3.

    Letters, digits, - and _ only.
    """

    postgres: str
    lake_capture: str
    lake_verify: str
    registry: str
    registry_writer: str
    connect_operator: str
    kafka_connect: str
    kafka_jobs: str
    column_hashes: str
    s3_access_key: str
    s3_secret_key: str

    @property
    def s3_keys(self) -> dict[str, str]:
        """The key pair under the names of the variables in which AWS's clients look for it."""
        return {"AWS_ACCESS_KEY_ID": self.s3_access_key, "AWS_SECRET_ACCESS_KEY": self.s3_secret_key}


def load(path: Path) -> Secrets:
    """The secrets in path; BadInput if there are none, if some are missing, or if they are not for this user."""
    try:
        content = json.loads(_read(path))
        return Secrets(**{field.name: str(content[field.name]) for field in fields(Secrets)})
    except FileNotFoundError:
        raise BadInput("this lake was never started", str(path), "run: lake up") from None
    except (ValueError, KeyError, TypeError) as error:
        what = f"the secrets cannot be read ({type(error).__name__})"
        raise BadInput(what, str(path), "restore the file from a copy") from None


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except PermissionError:
        now = "run this as the user who started the lake, or set LAKE_DATA_DIR to start another lake"
        raise BadInput("the secrets belong to another user", str(path), now) from None


def load_or_create(path: Path) -> Secrets:
    """The secrets in path, made and written with mode 0600 at the first call."""
    if not path.exists():
        replace_json(path, {field.name: _new() for field in fields(Secrets)})
    else:
        with suppress(ValueError, TypeError):  # load() reports a broken file
            _complete(path, json.loads(_read(path)))
    return load(path)


def _complete(path: Path, found: dict[str, str]) -> None:
    missing = {name: _new() for name in LATER if name not in found}
    if missing:
        replace_json(path, {**found, **missing})


def _new() -> str:
    return random.token_urlsafe(24)
