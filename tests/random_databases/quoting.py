"""Names and values as PostgreSQL reads them."""


def name(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def value(text: str | None) -> str:
    return "NULL" if text is None else "'" + text.replace("'", "''") + "'"


def listed(names: list[str]) -> str:
    return ", ".join(map(name, names))
