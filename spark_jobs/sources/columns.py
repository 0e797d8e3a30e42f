"""Columns of the lake as SQL over a decoded record. The engine converts each column (engine.py)."""

from typing import Any, Callable, Dict, List, NamedTuple, Tuple

from spark_jobs.runtime.sql_text import identifier, text_literal

DELETED = "__deleted"  # of a message: 'true' in that of a delete


class Converted(NamedTuple):
    """A column in its lake type. unrepresentable: conditions under which that type has no value, with the problem."""

    value: str
    unrepresentable: List[Tuple[str, str]]

    def where(self, change: Callable[[str, str], Tuple[str, str]]) -> "Converted":
        """The same value, and each condition and problem changed."""
        return self._replace(unrepresentable=[change(*one) for one in self.unrepresentable])


# A field of a decoded record, which is a column or in the struct of that name, in its lake type.
Convert = Callable[[Dict[str, Any], str], Converted]


def lake_columns(writer_schema: Dict[str, Any], row: str, convert: Convert) -> List[str]:
    """The fields of a decoded record in their order, each as SQL of its lake type under its own name.

    row: the struct that holds them, or '' when they are columns. An unrepresentable value fails the query with a
    message that names the column and the type; in a deleted row it is NULL.
    """
    columns = {field["name"]: convert(field, row) for field in writer_schema["fields"]}
    return selected(columns, is_delete(writer_schema, row))


def selected(columns: Dict[str, Converted], is_gone: str) -> List[str]:
    """The columns as SQL under their names."""
    return ["{} AS {}".format(_exactly(one, is_gone), identifier(name)) for name, one in columns.items()]


def _exactly(column: Converted, is_gone: str) -> str:
    """The value. An unrepresentable one fails the query, except in a deleted row, which must not stop the others."""
    refused = "WHEN {} THEN if({}, NULL, raise_error({}))"
    cases = [refused.format(condition, is_gone, text_literal(problem)) for condition, problem in column.unrepresentable]
    return "CASE {} ELSE {} END".format(" ".join(cases), column.value) if cases else column.value


def is_delete(writer_schema: Dict[str, Any], row: str) -> str:
    """True if the message is that of a delete."""
    known = any(field["name"] == DELETED for field in writer_schema["fields"])
    return "coalesce({} = 'true', false)".format(field_of(DELETED, row)) if known else "false"


def field_of(name: str, row: str) -> str:
    """A field as SQL; row: as in lake_columns()."""
    return "{}.{}".format(row, identifier(name)) if row else identifier(name)
