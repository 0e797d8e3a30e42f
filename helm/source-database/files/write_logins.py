"""Turns secrets, JSON from Secrets Manager, into what prepare.sh needs: logins for psql, and SCRAM verifiers.

    python3 write_logins.py <folder> <host> <port> <sslmode> <file with the authorities, or nothing>

    <folder>/<name>/secret.json -> a section [<name>] of <folder>/pg_service.conf
                                -> <folder>/<name>.verifier, except for the administrator, who has a password

A verifier is what PostgreSQL keeps instead of a password (RFC 5803), so that a password is in no statement and no log
of the server. Deletes the JSON. Exit codes: 0 written, 2 a secret is wrong. No message shows a value.
"""

import base64
import hashlib
import hmac
import os
import sys
from pathlib import Path

from read_secret import BadSecret, credentials, write_private

ADMIN = "admin"
ITERATIONS = 4096  # PostgreSQL's own


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
    """Returns a section of the service file, and writes the verifier."""
    with credentials(place / "secret.json", place.name) as (user, password):
        check_plain(place.name, username=user, password=password)
        if place.name not in (ADMIN, user):
            raise BadSecret(f"the {place.name} secret is that of another user")
        if place.name != ADMIN:
            write_private(place.with_suffix(".verifier"), verifier(password, os.urandom(16)))
    settings = {**shared, "user": user, "password": password}
    return f"[{place.name}]\n" + "".join(f"{key}={value}\n" for key, value in settings.items())


def check_plain(secret: str, **fields: str) -> None:
    """BadSecret for a text that PostgreSQL would normalise before it hashes it (SASLprep)."""
    for name, value in fields.items():
        if not value.isascii() or not value.isprintable() or value != value.strip():
            raise BadSecret(f"'{name}' in the {secret} secret has a character that is not plain ASCII, or outer spaces")


def verifier(password: str, salt: bytes) -> str:
    """SCRAM-SHA-256$<iterations>:<salt>$<stored key>:<server key>."""
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, ITERATIONS)
    stored = hashlib.sha256(hmac.digest(salted, b"Client Key", "sha256")).digest()
    server = hmac.digest(salted, b"Server Key", "sha256")
    salt64, stored64, server64 = (base64.b64encode(part).decode() for part in (salt, stored, server))
    return f"SCRAM-SHA-256${ITERATIONS}:{salt64}${stored64}:{server64}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
