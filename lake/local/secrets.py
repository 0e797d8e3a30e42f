"""The passwords of one lake: made once, kept in one file that only its owner can read."""

import json
import os
import secrets as random
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from lake.errors import LakeError


@dataclass(frozen=True, repr=False)
class Secrets:
    """One password per PostgreSQL role, and the key pair of the S3 server; letters, digits, - and _ only."""

    postgres: str
    lake_capture: str
    lake_verify: str
    registry: str
    s3_access_key: str
    s3_secret_key: str


def load(path: Path) -> Secrets:
    """The secrets in path; LakeError if there are none, or if some are missing."""
    try:
        content = json.loads(path.read_text())
        return Secrets(**{field.name: str(content[field.name]) for field in fields(Secrets)})
    except FileNotFoundError:
        raise LakeError("this lake was never started", str(path), "run: lake up") from None
    except (ValueError, KeyError, TypeError) as error:
        raise LakeError(
            f"the secrets cannot be read ({type(error).__name__})", str(path), "restore the file from a copy"
        ) from None


def load_or_create(path: Path) -> Secrets:
    """The secrets in path, made and written with mode 0600 at the first call."""
    if not path.exists():
        made = Secrets(*(random.token_urlsafe(24) for _ in fields(Secrets)))
        write_private(path, json.dumps(asdict(made), indent=2) + "\n")
    return load(path)


def write_private(path: Path, text: str) -> None:
    """Replace path by text at once, readable by its owner only."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f"{path.name}.new")
    new.unlink(missing_ok=True)
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
    new.replace(path)
