"""The source database at one moment: an exported REPEATABLE READ snapshot that many JDBC readers share."""

import json
import re
import threading
from contextlib import closing, contextmanager
from functools import reduce
from typing import Any, Iterable, Iterator, List, Optional
from urllib.parse import quote

from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame, SparkSession

from spark_jobs.runtime.batch_job import Refused
from spark_jobs.runtime.jvm import java, java_map
from spark_jobs.runtime.passwords import password
from spark_jobs.runtime.pipeline import Table, joined
from spark_jobs.runtime.waiting import Deadline, NotCovered, wait_until
from spark_jobs.sources import engine
from spark_jobs.sources.engine import Columns, NoTable, ReadRows
from spark_jobs.sources.postgres.types import SourceColumn

PASSWORD = "LAKE_VERIFY_PASSWORD"  # the variable that has it
REPEATABLE_READ = 4  # java.sql.Connection.TRANSACTION_REPEATABLE_READ
# Above 0, or pgjdbc reads the whole table into memory and autocommit ends the snapshot; few, as each may be 1 MB.
FETCH_ROWS = "128"
PAGES_PER_READ = 4096  # 32 MiB of table per reader
SETTINGS = ("TimeZone = 'UTC'", "DateStyle = 'ISO'")  # of the texts
# Those of lake/sources/postgres/session.py, which says why.
SESSION = (
    "-c bytea_output=hex -c IntervalStyle=postgres -c extra_float_digits=1 -c lc_monetary=C "
    "-c quote_all_identifiers=off -c search_path=public -c default_transaction_read_only=off -c statement_timeout=0 "
    "-c lock_timeout=0 -c idle_in_transaction_session_timeout=0 -c idle_session_timeout=0 "
    "-c wal_sender_timeout=60s -c row_security=off"
)
# IS NULL is also true of a row of a composite type whose fields are all NULL.
READABLE = "CASE WHEN {name} IS DISTINCT FROM NULL THEN coalesce({text}, 'a value that has no text in PostgreSQL') END"
# Servers before 17 do not know it, and refuse a session that sets it at its start.
NO_TIMEOUT = "SELECT set_config(name, '0', false) FROM pg_settings WHERE name = 'transaction_timeout'"
TABLES = """
SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relpersistence = 'p'
  AND n.nspname !~ '^pg_' AND n.nspname NOT IN ('information_schema', 'lake') ORDER BY 1, 2
"""
SIZE = """
SELECT sum(pg_table_size(part)) FROM (
  SELECT to_regclass(?)::oid AS part UNION SELECT relid FROM pg_partition_tree(to_regclass(?))
) AS parts
"""
PARTS = re.compile(r'"(?:[^"]|"")+"|[^".]+')  # of schema.table
COLUMNS = """
WITH RECURSIVE base AS (
  SELECT a.attnum, a.attname, a.atttypid AS type, a.atttypmod AS modifier, a.attndims::int AS dimensions
  FROM pg_attribute a
  WHERE a.attrelid = to_regclass(?) AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
  UNION ALL
  SELECT b.attnum, b.attname, t.typbasetype, CASE WHEN t.typtypmod = -1 THEN b.modifier ELSE t.typtypmod END,
    t.typndims
  FROM base b JOIN pg_type t ON t.oid = b.type WHERE t.typtype = 'd'
)
SELECT b.attname, coalesce(e.typname, t.typname),
  CASE WHEN t.typtype = 'b' AND t.typelem = 0 AND t.oid >= 16384 AND t.typname <> 'hstore' THEN 'x'
    ELSE coalesce(e.typtype, t.typtype) END,
  b.modifier, e.oid IS NOT NULL, b.dimensions
FROM base b JOIN pg_type t ON t.oid = b.type
LEFT JOIN pg_type e ON e.oid = t.typelem AND t.typcategory = 'A'
WHERE t.typtype <> 'd' ORDER BY b.attnum
"""
SLOT = (
    "SELECT confirmed_flush_lsn >= ?::pg_lsn, confirmed_flush_lsn::text FROM pg_replication_slots WHERE slot_name = ?"
)


class Source(engine.Source):
    """How to reach one database. The password comes from the environment and is given only to pgjdbc."""

    def __init__(self, spark: SparkSession, url: str, user: str, password: str, slot: str = "") -> None:
        self._spark = spark
        self.url = url
        self._slot = slot
        self._login = {
            "user": user,
            "password": password,
            "ApplicationName": str(spark.sparkContext.appName),
            "options": SESSION,
        }

    def connect(self) -> Any:
        """A java.sql.Connection. Raises Refused when the server does not answer, or not to this login."""
        properties = java_map(self._spark, "java.util.Properties", self._login)
        try:
            connection = java(self._spark, "org.postgresql.Driver")().connect(self.url, properties)
        except Py4JJavaError as error:
            reason = str(error.java_exception.getMessage()).splitlines()[0]
            raise Refused("no connection to {}: {}".format(self.url, reason)) from None
        rows_of(connection, NO_TIMEOUT)
        return connection

    def read(self, spark: SparkSession, query: str, snapshot: str) -> DataFrame:
        """The rows of a query as of an exported snapshot."""
        begin = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY; SET TRANSACTION SNAPSHOT '{}'; "
        begin += "; ".join("SET LOCAL " + setting for setting in SETTINGS) + "; " + NO_TIMEOUT
        options = {
            "url": self.url,
            "dbtable": "({}) AS q".format(query),
            "fetchsize": FETCH_ROWS,
            "driver": "org.postgresql.Driver",
            "sessionInitStatement": begin.format(snapshot),
            **self._login,
        }
        return spark.read.format("jdbc").options(**options).load()

    def snapshot(self) -> "Snapshot":
        return Snapshot(self)

    def wait_until_captured(self, position: str, deadline: Deadline) -> None:
        """Waits until Kafka has acknowledged to Connect all that was committed before the LSN.

        Raises NotCovered at once without a slot: the connector makes it at its start, before it reads a row.
        """
        with closing(self.connect()) as connection:
            wait_until(lambda: _slot_lacks(connection, self._slot, position), deadline)

    @contextmanager
    def repeated_rows(self, table: str, columns: Columns, only: str) -> Iterator[ReadRows]:
        """PostgreSQL returns all rows in one text: a JSON array of each row's JSON array of texts."""
        inner = "{} WHERE {}".format(select_texts(table, columns), only)
        texts = ", ".join("c{}".format(index) for index in range(len(columns)))
        query = "SELECT coalesce(json_agg(to_json(ARRAY[{}])::text), '[]')::text FROM ({}) AS q".format(texts, inner)
        with closing(self.connect()) as connection:
            for setting in SETTINGS:
                connection.createStatement().execute("SET " + setting)
            yield lambda: json.loads(str(rows_of(connection, query)[0][0]))


def source_of(spark: SparkSession, server: str, table: Table, user: str) -> Source:
    """The database of a table, on jdbc:postgresql://host:port?...; the password is that of LAKE_VERIFY_PASSWORD."""
    address, mark, parameters = server.partition("?")
    url = "{}/{}{}{}".format(address.rstrip("/"), quote(table.database, safe=""), mark, parameters)
    return Source(spark, url, user, password(PASSWORD), table.capture or "lake_" + table.database)


class Snapshot(engine.Snapshot):
    """One snapshot of a database, held open until close(). position: an LSN."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._lock = threading.Lock()
        self._connection = source.connect()
        self._connection.setAutoCommit(False)
        self._connection.setTransactionIsolation(REPEATABLE_READ)
        self.snapshot = str(rows_of(self._connection, "SELECT pg_export_snapshot()")[0][0])
        # The insert position, not the write position: with asynchronous commit a visible commit can be unwritten.
        self.position = str(self._rows("SELECT pg_current_wal_insert_lsn()::text")[0][0])

    def columns(self, table: str) -> List[SourceColumn]:
        """The columns of schema.table in their order, domains resolved. Raises NoTable."""
        found = [source_column(*row) for row in self._rows(COLUMNS, qualified(table))]
        if not found:
            raise NoTable("PostgreSQL has no table {}, or it has no columns".format(table))
        return found

    def tables(self) -> List[str]:
        """All tables that hold rows of their own, or are the root of partitions: schema.table."""
        return [joined(*map(str, row)) for row in self._rows(TABLES)]

    def size(self, table: str) -> int:
        """The bytes of a table and of its partitions, with the long values that are kept beside the rows."""
        return int(self._rows(SIZE, *[qualified(table)] * 2)[0][0])

    def rows(self, spark: SparkSession, table: str, columns: Columns, only: Optional[str] = None) -> DataFrame:
        """The canonical source text of each column, c0, c1, ... only: an SQL condition."""
        query = select_texts(table, columns) + " WHERE "
        parts = [" AND ".join(part + ([only] if only else [])) for part in self._parts(table)]
        return reduce(DataFrame.union, [self.source.read(spark, query + part, self.snapshot) for part in parts])

    def close(self) -> None:
        """The server ends the transaction; a server that stopped has ended it already."""
        self._connection.close()

    def _parts(self, table: str) -> List[List[str]]:
        pages = int(self._rows("SELECT pg_relation_size(?::regclass) / 8192", qualified(table))[0][0])
        bounds = list(range(0, pages, PAGES_PER_READ)) or [0]
        return [page_range(bounds, index) for index in range(len(bounds))]

    def _rows(self, query: str, *parameters: str) -> List[List[Any]]:
        """The rows of a small query, in a savepoint: an error would end the transaction, and the snapshot with it."""
        with self._lock:  # the savepoints of two threads would end each other
            savepoint = self._connection.setSavepoint()
            try:
                found = rows_of(self._connection, query, *parameters)
                self._connection.releaseSavepoint(savepoint)
                return found
            except Py4JJavaError:
                self._connection.rollback(savepoint)
                raise


def select_texts(table: str, columns: Columns) -> str:
    """The query of each column's canonical source text, under the names c0, c1, ... Only of NULL it is null."""
    texts = [
        READABLE.format(name=quoted(name), text=kind.sql.replace("{x}", quoted(name))) for name, kind in columns.items()
    ]
    named = ", ".join("{} AS c{}".format(text, index) for index, text in enumerate(texts))
    return "SELECT {} FROM {}".format(named, qualified(table))


def page_range(bounds: List[int], index: int) -> List[str]:
    """The condition for the table's pages from bounds[index] to the next bound; the last range is open."""
    conditions = ["ctid >= '({},0)'".format(bounds[index])]
    if index + 1 < len(bounds):
        conditions.append("ctid < '({},0)'".format(bounds[index + 1]))
    return conditions if len(bounds) > 1 else ["true"]


def rows_of(connection: Any, query: str, *parameters: str) -> List[List[Any]]:
    """All rows of a small query."""
    statement = connection.prepareStatement(query)
    for place, value in enumerate(parameters):
        statement.setString(place + 1, value)
    result = statement.executeQuery()
    width = result.getMetaData().getColumnCount()
    rows = []
    while result.next():
        rows.append([result.getObject(place + 1) for place in range(width)])
    statement.close()
    return rows


def source_column(
    name: Any, kind: Any, category: Any, modifier: Any, is_array: Any, dimensions: Any = 0
) -> SourceColumn:
    """A catalogue row. The modifier holds numeric's precision and (11 bits, signed) scale, or a bit string's length."""
    precision, scale = 0, 0
    if kind == "numeric" and int(modifier) >= 4:
        precision, scale = (int(modifier) - 4) >> 16, ((int(modifier) - 4 & 2047) ^ 1024) - 1024
    if kind == "bit":
        precision = int(modifier)
    return SourceColumn(str(name), str(kind), str(category), precision, scale, bool(is_array), int(dimensions))


def quoted(name: str) -> str:
    """An identifier for PostgreSQL."""
    return '"{}"'.format(name.replace('"', '""'))


def qualified(table: str) -> str:
    """The name of a table (pipeline.Table.source_name) with both parts quoted."""
    return ".".join(part if part.startswith('"') else quoted(part) for part in PARTS.findall(table))


def any_of(name: str, values: Iterable[str]) -> str:
    """The condition that a column has one of the values, as PostgreSQL reads them."""
    texts = [literal(value) for value in sorted(values) if "\0" not in value]  # PostgreSQL has no such text
    return "{} IN ({})".format(quoted(name), ", ".join(texts)) if texts else "false"


def _slot_lacks(connection: Any, slot: str, lsn: str) -> str:
    rows = rows_of(connection, SLOT, lsn, slot)
    if not rows:
        raise NotCovered("there is no replication slot {}, so nothing is captured".format(slot))
    return "" if rows[0][0] else "slot {} confirmed {} of {}".format(slot, rows[0][1], lsn)


def literal(text: str) -> str:
    """A text constant for PostgreSQL."""
    return "'{}'".format(text.replace("'", "''"))
