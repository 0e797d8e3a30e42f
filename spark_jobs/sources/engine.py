"""What the jobs need from a source database of any engine. Each folder next to this file is one engine."""

from importlib import import_module
from typing import Any, Callable, ContextManager, Dict, Iterable, List, NamedTuple, Optional

from pyspark.sql import Column, DataFrame, SparkSession

from spark_jobs.runtime.pipeline import Table
from spark_jobs.runtime.waiting import Deadline
from spark_jobs.sources.columns import Convert

Conversion = Callable[[Column], Column]
ReadRows = Callable[[], List[str]]


class NoTable(Exception):
    """The source has no table of that name."""


class Unmapped(Exception):
    """The type map has no entry for a column's type."""


class ColumnType(NamedTuple):
    """How one type of the source is kept in the lake, and the text that both sides are compared as."""

    lake: str  # the Spark type, as DataType.simpleString() writes it
    sql: str  # the source's expression of {x} to text; NULL stays NULL
    source: Conversion  # that text to the canonical text
    text: Conversion  # the lake column to the canonical text


Columns = Dict[str, ColumnType]  # of a table, by name and in their order


class Positions(NamedTuple):
    """How people write a position in the log of the source.

    parse: the number for a text; None if the text is no position
    text: the text for a number
    """

    name: str
    example: str
    parse: Callable[[str], Optional[int]]
    text: Callable[[int], str]


class Snapshot:
    """One state of a database, held open until close(). position: not before any commit that it shows."""

    position: str

    def columns(self, table: str) -> List[Any]:
        """The columns of schema.table in their order, each with a `name`. Raises NoTable."""
        raise NotImplementedError

    def tables(self) -> List[str]:
        """All tables of the database, schema.table; none if the engine cannot tell."""
        return []

    def size(self, table: str) -> int:
        """About how many bytes schema.table has."""
        raise NotImplementedError

    def rows(self, spark: SparkSession, table: str, columns: Columns, only: Optional[str] = None) -> DataFrame:
        """The canonical source text of each column, c0, c1, ... only: a condition of any_of()."""
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError


class Source:
    """How to reach one database."""

    def snapshot(self) -> Snapshot:
        raise NotImplementedError

    def wait_until_captured(self, position: str, deadline: Deadline) -> None:
        """Waits until Kafka has all that was committed before the position. Raises NotCovered after the deadline,
        and at once if nothing captures the database."""
        raise NotImplementedError

    def repeated_rows(self, table: str, columns: Columns, only: str) -> ContextManager[ReadRows]:
        """A function that reads all rows of a condition at each call, each row as a JSON array of its texts."""
        raise NotImplementedError


class Engine(NamedTuple):
    """source: from a session, a server, a table of the database and a user. load: from a session, a server with its
    database, a user, a password, the path of a schema and those of the files by table; the rows added by table.
    """

    convert: Convert
    source: Callable[[SparkSession, str, Table, str], Source]
    column_type: Callable[[Any], ColumnType]  # of a column; Unmapped
    reads_back: Callable[[Any], bool]  # True if rows can be looked up by the canonical text of a column
    any_of: Callable[[str, Iterable[str]], str]  # the condition that a column has one of these canonical texts
    positions: Positions
    load: Callable[[SparkSession, str, str, str, str, Dict[str, str]], Dict[str, int]]


def engine(name: str) -> Engine:
    """The engine of that name: the ENGINE of its folder, so that a new engine changes no file of the others."""
    found: Engine = import_module("spark_jobs.sources.{}.engine".format(name)).ENGINE
    return found
