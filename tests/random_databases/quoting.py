"""Names and values as PostgreSQL reads them."""


def name(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def value(text: str | None) -> str:
    return "NULL" if text is None else "'" + text.replace("'", "''") + "'"


def listed(names: list[str]) -> str:
    return ", ".join(map(name, names))


def full_name(schema: str, table: str) -> str:
    """As a definition has it: a part with a dot or a quote is quoted."""
    return ".".join(name(part) if "." in part or '"' in part else part for part in (schema, table))
