"""Turns secrets, JSON from Secrets Manager, into files of the worker.

    python3 write_credentials.py <folder>

    <folder>/rest/secret.json  -> rest/login   who may call the worker over REST
    <folder>/kafka/secret.json -> kafka/jaas   for the worker, where there is one

Deletes the JSON. Exit codes: 0 written, 2 a secret is wrong. No message shows a value.
"""

import sys
from pathlib import Path

from read_secret import BadSecret, credentials, write_private

SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule required"


def main(arguments: list[str]) -> int:
    folder = Path(arguments[0])
    try:
        rest(folder / "rest")
        if (folder / "kafka").exists():
            kafka(folder / "kafka")
    except BadSecret as problem:
        print(problem, file=sys.stderr)
        return 2
    return 0


def rest(folder: Path) -> None:
    """Writes a line that lake.connect.RestLogin compares with the callers' logins."""
    with credentials(folder / "secret.json", "rest") as login:
        write_private(folder / "login", ":".join(login) + "\n")


def kafka(folder: Path) -> None:
    """Writes a line of JAAS, whose quoting only its writer can do right."""
    with credentials(folder / "secret.json", "kafka") as (user, password):
        write_private(folder / "jaas", f"{SCRAM} username={quoted(user)} password={quoted(password)};")


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
