"""Turns secrets, JSON from Secrets Manager, into one file per value, which Kafka's DirectoryConfigProvider reads.

    python3 write_credentials.py <folder>

    <folder>/database/secret.json -> database/username, database/password   for the connectors
    <folder>/kafka/secret.json    -> kafka/jaas                             for the worker, where there is one

Deletes the JSON. Exit codes: 0 written, 2 a secret is wrong. No message shows a value.
"""

import sys
from pathlib import Path

from read_secret import BadSecret, credentials, write_private

SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule required"


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
    """Writes user name and password unchanged: a provider puts them into the connector's settings unchanged."""
    with credentials(folder / "secret.json", "database") as (user, password):
        write_private(folder / "username", user)
        write_private(folder / "password", password)


def kafka(folder: Path) -> None:
    """Writes a line of JAAS, whose quoting only its writer can do right."""
    with credentials(folder / "secret.json", "kafka") as (user, password):
        write_private(folder / "jaas", f"{SCRAM} username={quoted(user)} password={quoted(password)};")


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
