"""Turns the secret of the database, JSON from Secrets Manager, into the properties that the registry reads.

    python3 database_properties.py <secret.json> <database.properties>

The JSON is removed. Exit codes: 0 written, 2 the secret is not as it must be.
"""

import json
import os
import sys
from pathlib import Path


def main(arguments: list[str]) -> int:
    source, target = Path(arguments[0]), Path(arguments[1])
    try:
        text = properties(source.read_text(encoding="utf-8"))
    except ValueError as problem:
        print(f"the database secret can't be used: {problem}", file=sys.stderr)
        return 2
    write_private(target, text)
    source.unlink()
    return 0


def properties(secret: str) -> str:
    """Java properties with the user and the password of the secret."""
    try:
        fields = json.loads(secret)
    except json.JSONDecodeError:
        raise ValueError("it is not JSON; store username and password as one JSON object") from None
    if not isinstance(fields, dict):
        raise ValueError("it is not a JSON object; store username and password in one")
    return "".join(f"apicurio.datasource.{name}={value(fields, name)}\n" for name in ("username", "password"))


def value(fields: dict[str, object], name: str) -> str:
    """One field, escaped for Java properties. No message shows a value."""
    text = fields.get(name)
    if not isinstance(text, str) or not text:
        raise ValueError(f"it has no '{name}'; add it as text")
    if "${" in text:
        raise ValueError(f"'{name}' contains '${{', which the registry would read as a reference; choose another")
    return escape(text)


def escape(text: str) -> str:
    """Text as the value of a Java property: printable ASCII without backslash as it is, the rest as code units."""
    return "".join(
        char if char.isascii() and char.isprintable() and char not in "\\ " else units(char) for char in text
    )


def units(char: str) -> str:
    """\\uXXXX for each UTF-16 code unit, as java.util.Properties wants them."""
    code = char.encode("utf-16-be").hex()
    return "".join("\\u" + code[at : at + 4] for at in range(0, len(code), 4))


def write_private(path: Path, text: str) -> None:
    """A file that only its owner can read, from its first byte on."""
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
