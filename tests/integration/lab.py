"""The source database `lab`: small tables in which real sessions do what loses rows elsewhere, and ways to look.

The database `early` is captured through a slot that is older than its connector.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import sql
from pyspark.sql import DataFrame, SparkSession

from lake.clients import stream_status
from lake.clients.connect import Connect
from lake.config.definition import Database
from lake.config.errors import LakeError
from lake.config.report import silent
from lake.local.stack import Stack
from lake.plan.apply import apply
from lake.plan.diff import changes
from lake.plan.facts import read_facts
from tests.clocks import HANG_S, until
from tests.integration import readers

if TYPE_CHECKING:
    from tests.running_lake import RunningLake

Connection = psycopg.Connection[Any]
Rows = dict[tuple[Any, ...], tuple[Any, ...]]  # by key
MOR = {"types": ["mor"]}
TABLES: dict[str, dict[str, Any]] = {
    "hot": {"key": ["id"]},
    "moving": {"key": ["id"], "partition": "part"},
    "gone": {"key": ["id"], "delete": "hard"},
    "pairs": {"key": ["a", "b", "n"], **MOR},
    "big": {"key": ["id"], "topic_partitions": 3, **MOR},
    "bare": {"key": ["id"], "replica_identity": "default", **MOR},
    "defaults": {"key": ["id"], "types": ["cow"]},
    "grown": {"key": ["id"]},
    "strict": {"key": ["id"], **MOR},
    "retyped": {"key": ["id"], **MOR},
}
EARLY = {"dawn": {"key": ["id"], **MOR}}
SCHEMA = """
CREATE TABLE hot (id int PRIMARY KEY, v text);
CREATE TABLE moving (id int PRIMARY KEY, part text, v text);
CREATE TABLE gone (id int PRIMARY KEY, name text, _secret text);
CREATE TABLE pairs (a text, b text, n int, v text, PRIMARY KEY (a, b, n));
CREATE TABLE big (id int PRIMARY KEY, n int, t text, j jsonb, b bytea, a text[], d numeric);
ALTER TABLE big ALTER t SET STORAGE EXTERNAL, ALTER b SET STORAGE EXTERNAL, ALTER a SET STORAGE EXTERNAL;
CREATE TABLE bare (id int PRIMARY KEY, day date NOT NULL, n int NOT NULL, name varchar(20) NOT NULL,
    price numeric(10,2) NOT NULL, note varchar(10));
CREATE TYPE mood AS ENUM ('sad', 'ok');
CREATE TABLE defaults (id int PRIMARY KEY, b boolean DEFAULT true, i2 smallint DEFAULT 1, i4 int DEFAULT 2,
    i8 bigint DEFAULT 3, f4 real DEFAULT 1.5, f8 float DEFAULT 2.5, n numeric(6,2) DEFAULT 9.99, u numeric DEFAULT 7,
    t text DEFAULT 'x', v varchar(5) DEFAULT 'y', c char(3) DEFAULT 'abc', d date DEFAULT '2020-01-01',
    ts timestamp DEFAULT '2020-01-01', tz timestamptz DEFAULT now(), tm time DEFAULT '12:00',
    iv interval DEFAULT '1 day', id2 uuid DEFAULT gen_random_uuid(), j jsonb DEFAULT '{}', x bytea DEFAULT '\\x01',
    a text[] DEFAULT '{a}', m mood DEFAULT 'ok', bits bit(3) DEFAULT '101', ip inet DEFAULT '127.0.0.1',
    cash money DEFAULT 5);
CREATE TABLE grown (id int PRIMARY KEY, amount int);
CREATE TABLE strict (id int PRIMARY KEY, must int NOT NULL);
CREATE TABLE retyped (id int PRIMARY KEY, amount int);
INSERT INTO hot VALUES (901, 'old'), (902, 'old'), (903, 'old');
INSERT INTO defaults (id) VALUES (10);
INSERT INTO grown SELECT i, i FROM generate_series(1, 3) i;
INSERT INTO strict SELECT i, i FROM generate_series(1, 3) i;
INSERT INTO retyped SELECT i, i FROM generate_series(1, 3) i;
"""
EARLY_SCHEMA = "CREATE TABLE dawn (id int PRIMARY KEY, v text); INSERT INTO dawn VALUES (1, 'old'), (2, 'old')"


class Lab:
    """The databases lab and early in the shared lake."""

    def __init__(self, lake: "RunningLake", spark: SparkSession) -> None:
        self.lake = lake
        self.home = lake.home
        self.spark = spark
        self.stack = Stack(self.home)

    # --- Beginning.

    def open(self) -> None:
        """Captures both databases while transactions are open around the start (F2, F3); returns when drained."""
        self._create("early", EARLY_SCHEMA)
        self._create("lab", SCHEMA)
        self._define("early", EARLY)
        self._prepare_source("early")
        self._open_early()
        self._define("lab", TABLES)
        self._prepare_source("lab")
        self._open_staggered()
        self.drain()

    def _create(self, database: str, schema: str) -> None:
        self.lake.execute("postgres", f"CREATE DATABASE {database}")
        with self.session(database) as connection:
            connection.execute(schema.encode())
            connection.commit()

    def _define(self, database: str, tables: dict[str, dict[str, Any]]) -> None:
        self.lake.define(database, {f"public.{name}": settings for name, settings in tables.items()})

    def _prepare_source(self, name: str) -> None:
        """The first part of `lake apply`: publication, identities and rights, no connector yet."""
        databases = self.lake.definitions()
        facts = read_facts(databases, self.home)
        found = [change for change in changes(databases, self.home, facts) if change.kind == "source"]
        assert {change.database for change in found} == {name}
        assert apply(found, databases, self.home, facts, report=silent) == {}

    def _open_early(self) -> None:
        """F2: the slot is there, a transaction is open while the snapshot is read, and commits after it."""
        with self.session("early") as late, self.session("early") as other:
            other.execute("SELECT pg_create_logical_replication_slot('lake_early', 'pgoutput')")
            other.commit()
            late.execute("UPDATE dawn SET v = 'late' WHERE id = 1")
            other.execute("UPDATE dawn SET v = 'before' WHERE id = 2")
            other.commit()
            self.lake.run("apply")
            readers.wait_for_end(self.home, "early.public.dawn", 2)
            late.commit()

    def _open_staggered(self) -> None:
        """F3: three transactions, each open when the new slot reaches another stage of its start."""
        with self.session("lab") as first, self.session("lab") as second, self.session("lab") as third:
            open_until = _update(first, 901)
            applied = in_background(lambda: self.lake.run("apply"))
            self._await_waiter(open_until)
            open_until = _update(second, 902)
            first.commit()
            self._await_waiter(open_until)
            _update(third, 903)
            second.commit()
            readers.wait_for_end(self.home, "lab.public.hot", 3)
            third.commit()
            applied()

    def _await_waiter(self, transaction: str) -> None:
        query = "SELECT count(*) FROM pg_locks WHERE NOT granted AND transactionid::text = %s"
        self.until(lambda: self._count(query, transaction) > 0, "the new slot does not wait for the transaction")

    def _count(self, query: str, *values: Any) -> int:
        with self.session() as connection:
            row = connection.execute(query.encode(), values).fetchone()
        return int(row[0]) if row else 0

    # --- Writing.

    @contextmanager
    def session(self, database: str = "lab") -> Iterator[Connection]:
        """One session of the source; a transaction is open from its first statement to commit()."""
        with psycopg.connect(self.home.dsn(database)) as connection:
            yield connection
            connection.rollback()

    def transaction(self, *statements: str, database: str = "lab") -> None:
        """All statements in one transaction."""
        with self.session(database) as connection:
            for statement in statements:
                connection.execute(statement.encode())
            connection.commit()

    def cross(self, table: str, key: int, insert: str) -> None:
        """F1: an insert that has written its row, and waits for the end of the transaction that deletes the old one."""
        with self.session() as deleting, self.session() as inserting:
            deleting.execute(f"UPDATE {table} SET v = 'updated' WHERE id = {key}".encode())
            inserted = in_background(lambda: inserting.execute(insert.encode()))
            pid = inserting.info.backend_pid
            waits = "SELECT count(*) FROM pg_stat_activity WHERE pid = %s AND wait_event_type = 'Lock'"
            self.until(lambda: self._count(waits, pid) > 0, "the insert does not wait")
            deleting.execute(f"DELETE FROM {table} WHERE id = {key}".encode())
            deleting.commit()
            inserted()
            inserting.commit()

    # --- Waiting.

    def drain(self, *without: str) -> None:
        """Returns once every table of both databases, but those named, holds what is committed now."""
        try:
            stream_status.wait_for_lake(self.home, list(self.databases(*without)), lambda line: None, HANG_S)
        except LakeError as error:
            connect = Connect(self.home)
            raise AssertionError(f"{error}: {connect.status('source_postgres_lab')}") from error

    def databases(self, *without: str) -> Iterator[Database]:
        for database in self.lake.definitions():
            if database.database in ("lab", "early"):
                kept = {name: table for name, table in database.by_name.items() if table.name not in without}
                yield database.model_copy(update={"by_name": kept})

    def until(self, is_so: Callable[[], bool], otherwise: str) -> None:
        until(is_so, otherwise)

    def facts(self, name: str) -> dict[str, Any]:
        """What the streaming job reports of a table ("lab_mor.hot")."""
        return stream_status.reported(self.home).get(name, {})

    # --- Looking.

    def types(self, table: str) -> list[str]:
        return list(TABLES.get(table, EARLY.get(table, {})).get("types", ["cow", "mor"]))

    def path(self, table: str, kind: str, database: str = "lab") -> str:
        return f"{self.home.bucket_uri}/silver/{database}/{table}_{kind}"

    def stored(self, table: str, kind: str, database: str = "lab") -> DataFrame:
        """The rows as they lie in the lake now, deleted ones too."""
        return self.spark.read.format("hudi").load(self.path(table, kind, database))

    def whole(self, table: str, kind: str) -> set[Any]:
        """All rows, deleted ones and added columns too, without what Hudi adds but the partition."""
        found = self.stored(table, kind)
        kept = [name for name in found.columns if not name.startswith("_hoodie")]
        rows = found.select("_hoodie_partition_path", *kept).collect()
        return {tuple(_plain(value) for value in row) for row in rows}

    def catalogued(self, name: str) -> dict[str, str]:
        """Column to type, as the metastore has them ("lab_mor.grown_rt"); Spark itself would ask Hudi."""
        table = self._catalogue().getTable(*name.split("."))
        return {field.name(): field.dataType().simpleString() for field in table.schema().fields()}

    def partitions(self, name: str) -> list[str]:
        """The partitions of a table as the metastore has them; none of a table that it does not know yet."""
        if not self._catalogue().tableExists(*name.split(".")):
            return []
        nothing = self.spark._jvm.scala.Option.apply(None)
        names = self._catalogue().listPartitionNames(*name.split("."), nothing)
        return str(names.mkString("\n")).splitlines()

    def _catalogue(self) -> Any:
        return self.spark._jsparkSession.sharedState().externalCatalog()

    def source(self, table: str, database: str = "lab") -> Rows:
        columns = self._columns(table, database)
        selected = [sql.SQL("{}::text" if as_text else "{}").format(sql.Identifier(name)) for name, as_text in columns]
        query = sql.SQL("SELECT {} FROM {}").format(sql.SQL(", ").join(selected), sql.Identifier(table))
        with self.session(database) as connection:
            rows = connection.execute(query).fetchall()
        return _by_key(table, rows, [name for name, _ in columns])

    def live(self, table: str, kind: str, database: str = "lab") -> Rows:
        """The rows of the lake that are not deleted, with the columns of the source in its order."""
        return self.living(self.stored(table, kind, database), table, database)

    def living(self, stored: DataFrame, table: str, database: str = "lab") -> Rows:
        """The rows of any Hudi table of the source table that are not deleted."""
        names = self.names(table, database)
        return _by_key(table, stored.where("__deleted = 'false'").select(*names).collect(), names)

    def deleted(self, table: str, kind: str) -> dict[Any, dict[str, Any]]:
        rows = self.stored(table, kind).where("__deleted = 'true'").collect()
        return {row[_key(table)[0]]: row.asDict() for row in rows}

    def differences(self, *tables: str, database: str = "lab") -> dict[str, Any]:
        """By Hudi table, the rows of which lake and source disagree, in both versions; {} when all are equal."""
        found = {}
        for table in tables:
            source = self.source(table, database)
            for kind in self.types(table):
                lake = self.live(table, kind, database)
                keys = [key for key in {*source, *lake} if source.get(key) != lake.get(key)]
                if keys:
                    found[f"{table}_{kind}"] = {key: (source.get(key), lake.get(key)) for key in keys[:5]}
        return found

    def merged(self, table: str, by: str, database: str = "lab") -> dict[Any, Any]:
        """What a merge of the topic that keeps the greatest `by` of each key ends with: column v of live rows.

        by "offset" is the order in which Kafka holds the messages.
        """
        best: dict[Any, tuple[int, dict[str, Any]]] = {}
        for offset, record in enumerate(readers.topic_records(self.home, f"{database}.public.{table}")):
            order = offset if by == "offset" else int(record[by])
            if record["id"] not in best or order >= best[record["id"]][0]:
                best[record["id"]] = (order, record)
        return {key: record["v"] for key, (_, record) in best.items() if record["__deleted"] == "false"}

    def names(self, table: str, database: str = "lab") -> list[str]:
        """The columns of the source."""
        return [name for name, _ in self._columns(table, database)]

    def _columns(self, table: str, database: str) -> list[tuple[str, bool]]:
        """Name, and whether PostgreSQL's text is what the lake holds."""
        query = (
            "SELECT column_name, data_type, numeric_precision FROM information_schema.columns "
            "WHERE table_schema = 'public' AND table_name = %s ORDER BY ordinal_position"
        )
        with self.session(database) as connection:
            found = connection.execute(query, [table]).fetchall()
        return [(name, kind == "jsonb" or (kind == "numeric" and precision is None)) for name, kind, precision in found]


def _key(table: str) -> list[str]:
    return list({**TABLES, **EARLY}[table]["key"])


def _by_key(table: str, rows: list[Any], names: list[str]) -> Rows:
    places = [names.index(name) for name in _key(table)]
    plain = [tuple(_plain(value) for value in row) for row in rows]
    found = {tuple(row[place] for place in places): row for row in plain}
    assert len(found) == len(plain), f"{table}: a key stands in two rows"
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    return tuple(value) if isinstance(value, list) else value


def _update(connection: Connection, key: int) -> str:
    """Updates a row and leaves the transaction open; its id."""
    connection.execute("UPDATE hot SET v = 'new' WHERE id = %s", [key])
    row = connection.execute("SELECT pg_current_xact_id()::text").fetchone()
    assert row is not None
    return str(row[0])


def in_background(work: Callable[[], Any]) -> Callable[[], Any]:
    """Begins the work in a thread; the function returned waits for its end and raises what it raised."""
    outcome: dict[str, Any] = {}

    def run() -> None:
        try:
            outcome["result"] = work()
        except BaseException as error:
            outcome["error"] = error

    thread = threading.Thread(target=run, daemon=True)
    thread.start()

    def wait() -> Any:
        thread.join(HANG_S)
        assert outcome, "it does not come to an end"
        if "error" in outcome:
            raise outcome["error"]
        return outcome["result"]

    return wait
