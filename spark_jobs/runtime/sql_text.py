"""Names and constants as Spark SQL has them."""


def identifier(name: str) -> str:
    """A column's name in Spark SQL."""
    return "`{}`".format(name.replace("`", "``"))


def text_literal(text: str) -> str:
    """A text constant in Spark SQL."""
    return "'{}'".format(text.replace("\\", "\\\\").replace("'", "\\'"))
