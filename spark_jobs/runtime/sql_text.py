"""Names and constants as Spark SQL has them."""


def identifier(name: str) -> str:
    """A column's name in Spark SQL."""
    return "`{}`".format(name.replace("`", "``"))


def text_of_key(value: str) -> str:
    """A value of a key as text, different for different values. value: SQL.

    A cast leaves out what is no text in bytes, and the quotes of the elements of an array. The type is known when the
    query is planned, so that only one branch of the CASE is left then.
    """
    kinds = "typeof({0}) = 'binary' OR typeof({0}) = 'array<string>'".format(value)
    return "CASE WHEN {0} THEN to_json(named_struct('k', {1})) ELSE CAST({1} AS string) END".format(kinds, value)


def text_literal(text: str) -> str:
    """A text constant in Spark SQL."""
    return "'{}'".format(text.replace("\\", "\\\\").replace("'", "\\'"))
