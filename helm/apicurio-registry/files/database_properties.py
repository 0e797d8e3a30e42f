"""Turns the secret of the database, JSON from Secrets Manager, into the properties that the registry reads.

    python3 database_properties.py <secret.json> <database.properties>

Deletes the JSON. Exit codes: 0 written, 2 the secret is wrong. No message shows a value.
"""

import sys
from pathlib import Path

from read_secret import BadSecret, credentials, write_private


def main(arguments: list[str]) -> int:
    try:
        with credentials(Path(arguments[0]), "database") as (user, password):
            write_private(Path(arguments[1]), line("username", user) + line("password", password))
    except BadSecret as problem:
        print(problem, file=sys.stderr)
        return 2
    return 0


def line(name: str, value: str) -> str:
    """One property of the data source."""
    if "${" in value:
        what = f"'{name}' in the database secret contains '${{'"
        raise BadSecret(f"{what}, which the registry would read as a reference; choose another")
    return f"apicurio.datasource.{name}={escape(value)}\n"


def escape(text: str) -> str:
    """Text as the value of a Java property: printable ASCII without backslash as it is, the rest as code units."""
    return "".join(
        char if char.isascii() and char.isprintable() and char not in "\\ " else units(char) for char in text
    )


def units(char: str) -> str:
    """\\uXXXX for each UTF-16 code unit, as java.util.Properties wants them."""
    code = char.encode("utf-16-be").hex()
    return "".join("\\u" + code[at : at + 4] for at in range(0, len(code), 4))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
