"""A source database under audit: tables with hot keys, and triggers that log every row version in commit order."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import psycopg

# audit.version holds what was written, audit.transaction in which order it was committed. A transaction gets its
# place in its last moment, by a deferred trigger under a lock that it keeps until it has ended: places are the order
# of commits. What is rolled back leaves neither.
AUDIT = """
CREATE SCHEMA audit;
CREATE SEQUENCE audit.number;
CREATE SEQUENCE audit.place;
CREATE TABLE audit.transaction (xid xid8 PRIMARY KEY, place bigint);
CREATE TABLE audit.version (number bigint PRIMARY KEY DEFAULT nextval('audit.number'),
    xid xid8 NOT NULL DEFAULT pg_current_xact_id(), relation text NOT NULL, op text NOT NULL, row text NOT NULL);
CREATE FUNCTION audit.begin() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO audit.transaction (xid) VALUES (pg_current_xact_id()) ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
CREATE FUNCTION audit.end() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(1);
    UPDATE audit.transaction SET place = nextval('audit.place') WHERE xid = NEW.xid;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT ON audit.transaction
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION audit.end();
CREATE FUNCTION audit.note() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    moved boolean := false;
    name text;
BEGIN
    IF TG_OP = 'UPDATE' THEN
        FOREACH name IN ARRAY TG_ARGV LOOP
            moved := moved OR (to_jsonb(OLD) -> name) IS DISTINCT FROM (to_jsonb(NEW) -> name);
        END LOOP;
    END IF;
    IF TG_OP = 'DELETE' OR moved THEN
        INSERT INTO audit.version (relation, op, row) VALUES (TG_TABLE_NAME, 'd', to_jsonb(OLD));
    END IF;
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO audit.version (relation, op, row) VALUES (TG_TABLE_NAME, 'w', to_jsonb(NEW));
    END IF;
    RETURN NULL;
END $$;
"""
WATCH = """
CREATE TRIGGER begin BEFORE INSERT OR UPDATE OR DELETE ON {table}
    FOR EACH STATEMENT EXECUTE FUNCTION audit.begin();
CREATE TRIGGER note AFTER INSERT OR UPDATE OR DELETE ON {table}
    FOR EACH ROW EXECUTE FUNCTION audit.note({keys});
"""
FILLED = """
INSERT INTO audit.transaction (xid) VALUES (pg_current_xact_id()) ON CONFLICT DO NOTHING;
INSERT INTO audit.version (relation, op, row) SELECT '{table}', 'w', to_jsonb(whole) FROM {table} whole;
"""


@dataclass(frozen=True)
class Table:
    """One captured table: its columns in SQL, its key, and what its definition says beside the key.

    unsent: the columns that an event may lack, since their large values did not change (identity DEFAULT, F8).
    late: those that rows of a snapshot may lack: it reads the columns that there were when it began, and later rows.
    """

    name: str
    columns: str
    key: tuple[str, ...] = ("id",)
    settings: dict[str, Any] = field(default_factory=dict)
    unsent: tuple[str, ...] = ()
    late: tuple[str, ...] = ()

    @property
    def types(self) -> list[str]:
        return list(self.settings.get("types", ["cow", "mor"]))

    @property
    def definition(self) -> dict[str, Any]:
        return {"key": list(self.key), **self.settings}

    @property
    def hard(self) -> bool:
        return bool(self.settings.get("delete") == "hard")

    @property
    def partial_deletes(self) -> bool:
        """Whether a delete brings the key alone."""
        return bool(self.settings.get("replica_identity") == "default")

    def topic(self, database: str) -> str:
        return f"{database}.public.{self.name}"


MOR: dict[str, Any] = {"types": ["mor"]}
COW: dict[str, Any] = {"types": ["cow"]}
ACCOUNT = Table("account", "id int PRIMARY KEY, version bigint NOT NULL, amount numeric(12,2), note text")
ITEM = Table(
    "item", "id int PRIMARY KEY, version bigint NOT NULL, place text, n int", settings={"partition": "place", **MOR}
)
PAIR = Table("pair", "a text, b text, version bigint NOT NULL, v text, PRIMARY KEY (a, b)", ("a", "b"), COW)
BIG = Table(
    "big",
    "id int PRIMARY KEY, version bigint NOT NULL, n int, t text STORAGE EXTERNAL, b bytea STORAGE EXTERNAL",
    settings=MOR,
)
GONE = Table("gone", "id int PRIMARY KEY, version bigint NOT NULL, name text", settings={"delete": "hard", **MOR})
BARE = Table(
    "bare",
    "id int PRIMARY KEY, version bigint NOT NULL, n int NOT NULL, name varchar(40) NOT NULL, t text STORAGE EXTERNAL",
    settings={"replica_identity": "default"},
    unsent=("t",),
)
OTHER = Table("other", "id int PRIMARY KEY, version bigint NOT NULL, v text, n int", settings=MOR)
TABLES = (ACCOUNT, ITEM, PAIR, BIG, GONE, BARE)


def create(connection: psycopg.Connection[Any], tables: Iterable[Table]) -> None:
    """Makes the tables, empty, and the audit."""
    connection.execute(AUDIT.encode())
    for table in tables:
        connection.execute(f"CREATE TABLE {table.name} ({table.columns})".encode())
        watch(connection, table)
    connection.commit()


def watch(connection: psycopg.Connection[Any], table: Table) -> None:
    """From now on every version of the table's rows is logged."""
    connection.execute(WATCH.format(table=table.name, keys=", ".join(f"'{name}'" for name in table.key)).encode())


def fill(connection: psycopg.Connection[Any], table: Table, rows: str) -> None:
    """Rows by INSERT ... SELECT, logged in one go: the row trigger would take many times as long."""
    connection.execute(f"ALTER TABLE {table.name} DISABLE TRIGGER note".encode())
    connection.execute(f"INSERT INTO {table.name} {rows}".encode())
    connection.execute(f"ALTER TABLE {table.name} ENABLE TRIGGER note".encode())
    connection.execute(FILLED.format(table=table.name).encode())
    connection.commit()
