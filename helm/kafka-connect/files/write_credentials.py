"""Turns secrets, JSON from Secrets Manager, into one file per value, which Kafka's DirectoryConfigProvider reads.

    python3 write_credentials.py <folder>

    <folder>/database/secret.json -> database/username, database/password   for the connectors
    <folder>/kafka/secret.json    -> kafka/jaas                             for the worker, where there is one

The JSON is removed. Exit codes: 0 written, 2 a secret is not as it must be. No message shows a value.
"""

import json
import os
import sys
from pathlib import Path

SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule required"


class BadSecret(Exception):
    """Raised when a secret has not the fields it must have."""


def main(arguments: list[str]) -> int:
    folder = Path(arguments[0])
    try:
        database(folder / "database")
        if (folder / "kafka").exists():
            kafka(folder / "kafka")
    except BadSecret as problem:
        print(problem, file=sys.stderr)
        return 2
    return 0


def database(folder: Path) -> None:
    """User name and password as they are: a provider puts them into the connector's settings as they are."""
    for name, value in zip(("username", "password"), credentials(folder), strict=True):
        write_private(folder / name, value)


def kafka(folder: Path) -> None:
    """A line of JAAS, whose quoting only its writer can do right."""
    user, password = (quoted(value) for value in credentials(folder))
    write_private(folder / "jaas", f"{SCRAM} username={user} password={password};")


def credentials(folder: Path) -> tuple[str, str]:
    """User name and password of folder's secret, whose JSON is removed."""
    path = folder / "secret.json"
    try:
        fields = json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError:
        raise BadSecret(f"the {folder.name} secret is not JSON; store username and password in one object") from None
    path.unlink()
    return field(fields, "username", folder.name), field(fields, "password", folder.name)


def field(fields: object, name: str, secret: str) -> str:
    """One field of a secret, a text that is not empty."""
    value = fields.get(name) if isinstance(fields, dict) else None
    if not isinstance(value, str) or not value:
        raise BadSecret(f"the {secret} secret has no '{name}'; add it as text")
    return value


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def write_private(path: Path, text: str) -> None:
    """A file that only its owner can read, from its first byte on."""
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
