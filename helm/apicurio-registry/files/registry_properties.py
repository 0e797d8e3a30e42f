"""Turns the secrets of the registry, JSON from Secrets Manager, into the properties that it reads.

    python3 registry_properties.py <folder> <registry.properties>

    <folder>/database.json   the user of its database
    <folder>/writer.json     the user that may write schemas

Deletes the JSON. Exit codes: 0 written, 2 a secret is wrong. No message shows a value.
"""

import re
import sys
from pathlib import Path

from read_secret import BadSecret, credentials, write_private

USERS = "quarkus.security.users.embedded"
DEVELOPER = "sr-developer"  # Apicurio's role of those who write schemas
PLAIN = re.compile(r"[a-z][a-z0-9_-]*")


def main(arguments: list[str]) -> int:
    folder, target = Path(arguments[0]), Path(arguments[1])
    try:
        write_private(target, database(folder / "database.json") + writer(folder / "writer.json"))
    except BadSecret as problem:
        print(problem, file=sys.stderr)
        return 2
    return 0


def database(path: Path) -> str:
    """The login of the data source."""
    with credentials(path, "database") as (user, password):
        values = {"username": user, "password": password}
        return "".join(line(f"apicurio.datasource.{name}", value) for name, value in values.items())


def writer(path: Path) -> str:
    """The one user of the registry. Its name becomes a part of a property's name."""
    with credentials(path, "writer") as (user, password):
        if not PLAIN.fullmatch(user):
            raise BadSecret("'username' in the writer secret is not plain; use a to z, 0 to 9, - and _")
        return line(f"{USERS}.users.{user}", password) + line(f"{USERS}.roles.{user}", DEVELOPER)


def line(name: str, value: str) -> str:
    """One property."""
    if "${" in value:
        what = f"the value of {name} contains '${{'"
        raise BadSecret(f"{what}, which the registry would read as a reference; choose another")
    return f"{name}={escape(value)}\n"


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
