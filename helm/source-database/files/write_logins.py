"""Turns secrets, JSON from Secrets Manager, into what prepare.sh needs: logins for psql, and SCRAM verifiers.

    python3 write_logins.py <folder> <host> <port> <sslmode> <file with the authorities, or nothing>

    <folder>/<name>/secret.json -> a section [<name>] of <folder>/pg_service.conf
                                -> <folder>/<name>.verifier, but for the administrator's, which is not ours to set

A verifier is what PostgreSQL keeps instead of a password (RFC 5803), so that a password is in no statement and no log
of the server. The JSON is removed. Exit codes: 0 written, 2 a secret is not as it must be. No message shows a value.
"""

import base64
import hashlib
import hmac
import json
import os
import sys
from pathlib import Path

ADMIN = "admin"
ITERATIONS = 4096  # PostgreSQL's own


class BadSecret(Exception):
    """Raised when a secret has not the fields it must have."""


def main(arguments: list[str]) -> int:
    folder, host, port, sslmode, authorities = Path(arguments[0]), *arguments[1:5]
    shared = {"host": host, "port": port, "sslmode": sslmode, **({"sslrootcert": authorities} if authorities else {})}
    try:
        sections = [login(place, shared) for place in sorted(path.parent for path in folder.glob("*/secret.json"))]
    except BadSecret as problem:
        print(problem, file=sys.stderr)
        return 2
    write_private(folder / "pg_service.conf", "\n".join(sections))
    return 0


def login(place: Path, shared: dict[str, str]) -> str:
    """A section of the service file; writes the verifier beside it."""
    user, password = credentials(place)
    if place.name != ADMIN:
        if user != place.name:
            raise BadSecret(f"the secret of {place.name} is that of another user")
        write_private(place.with_suffix(".verifier"), verifier(password, os.urandom(16)))
    settings = {**shared, "user": user, "password": password}
    return f"[{place.name}]\n" + "".join(f"{key}={value}\n" for key, value in settings.items())


def credentials(place: Path) -> tuple[str, str]:
    """User name and password of a secret, whose JSON is removed."""
    path = place / "secret.json"
    try:
        fields = json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError:
        raise BadSecret(f"the secret of {place.name} is not JSON; store username and password in one object") from None
    path.unlink()
    return field(fields, "username", place.name), field(fields, "password", place.name)


def field(fields: object, name: str, secret: str) -> str:
    """One field of a secret, a text that a line of a service file can hold."""
    value = fields.get(name) if isinstance(fields, dict) else None
    if not isinstance(value, str) or not value:
        raise BadSecret(f"the secret of {secret} has no '{name}'; add it as text")
    # PostgreSQL would normalise other characters before it hashes them (SASLprep).
    if not value.isascii() or not value.isprintable() or value != value.strip():
        raise BadSecret(f"'{name}' in the secret of {secret} has a character that is not plain ASCII, or outer spaces")
    return value


def verifier(password: str, salt: bytes) -> str:
    """SCRAM-SHA-256$<iterations>:<salt>$<stored key>:<server key>."""
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, ITERATIONS)
    stored = hashlib.sha256(hmac.digest(salted, b"Client Key", "sha256")).digest()
    server = hmac.digest(salted, b"Server Key", "sha256")
    salt64, stored64, server64 = (base64.b64encode(part).decode() for part in (salt, stored, server))
    return f"SCRAM-SHA-256${ITERATIONS}:{salt64}${stored64}:{server64}"


def write_private(path: Path, text: str) -> None:
    """A file that only its owner can read, from its first byte on."""
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
