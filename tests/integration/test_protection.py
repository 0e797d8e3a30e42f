"""An application whose updates a migration broke gets them back, and no other table is touched.

The right answer is PostgreSQL's own: each shape of a table is published, and an UPDATE and a DELETE are tried on it.
"""

from collections.abc import Iterator
from functools import partial
from itertools import count
from pathlib import Path

import psycopg
import pytest

from lake.aws.container_files import write_sql
from lake.config.definition import Database
from lake.sources.postgres import facts, leaving, leftovers, rules
from lake.sources.postgres.catalog import read_source
from lake.sources.postgres.preparation import carry_out, database_steps, harmed, server_steps, unmet
from lake.sources.postgres.protection import cures, protect
from lake.sources.postgres.updatable import broken_members
from tests.integration.source_server import SourceServer, run_psql, write_logins

pytestmark = pytest.mark.integration
PORT = 28400
Settings = dict[str, object]
FULL: Settings = {"key": ["id"]}
DEFAULT: Settings = {"key": ["id"], "replica_identity": "default"}
REFUSED = (psycopg.errors.ObjectNotInPrerequisiteState, psycopg.errors.InvalidColumnReference)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SourceServer]:
    made = SourceServer(tmp_path_factory.mktemp("protected"), PORT)
    made.start()
    try:
        yield made
    finally:
        made.stop()


NUMBER = count()


class Source:
    """A database of its own; its tables are captured as `lake apply` does it."""

    def __init__(self, server: SourceServer, tables: dict[str, Settings]) -> None:
        self.name = f"shop_{next(NUMBER)}"
        self.home = server.home
        named = {f"public.{name}": settings for name, settings in tables.items()}
        self.definition = Database.model_validate({"database": self.name, "tables": named})
        with psycopg.connect(self.home.dsn(), autocommit=True) as connection:
            carry_out(connection, server_steps([self.name]))
        self.connection = psycopg.connect(self.home.dsn(self.name), autocommit=True)

    def run(self, *statements: str) -> None:
        for statement in statements:
            self.connection.execute(statement.encode())

    def prepare(self) -> None:
        carry_out(self.connection, database_steps(self.definition))

    def works(self, table: str) -> bool:
        """True if the application can update and delete."""
        try:
            self.connection.execute(f"UPDATE {table} SET v = v".encode())
            self.connection.execute(f"DELETE FROM {table} WHERE false".encode())
        except REFUSED:
            return False
        return True

    def published(self) -> set[str]:
        query = b"SELECT c.relname FROM pg_publication_rel r JOIN pg_class c ON c.oid = r.prrelid"
        return {str(row[0]) for row in self.connection.execute(query)} - {"heartbeat", "signal"}

    def identity(self, table: str) -> object:
        query = "SELECT relreplident::text FROM pg_class WHERE oid = %s::regclass"
        (row,) = self.connection.execute(query.encode(), [table]).fetchall()
        return row[0]

    def protect(self) -> dict[str, str]:
        return protect(self.home, self.definition)

    def outstanding(self) -> list[tuple[str, str]]:
        """What an apply would do in the source."""
        found = unmet(self.connection, self.name, database_steps(self.definition))
        return [(change.object, change.action) for change in found]


KEYS = {
    "a key": "PRIMARY KEY",
    "a deferrable key": "PRIMARY KEY DEFERRABLE",
    "a unique index": "UNIQUE NOT NULL",
    "no key": "",
}
IDENTITIES = ("DEFAULT", "FULL", "NOTHING", "USING INDEX t_id_key")
COLUMNS = {
    "plain": "",
    "stored": ", g int GENERATED ALWAYS AS (v * 2) STORED",
    "virtual": ", g int GENERATED ALWAYS AS (v * 2)",
}
PUBLISHED = {
    "whole": "FOR TABLE t",
    "with generated columns": "FOR TABLE t WITH (publish_generated_columns = stored)",
    "a list with the key": "FOR TABLE t (id, v)",
    "a list without the key": "FOR TABLE t (v)",
    "filtered by the key": "FOR TABLE t WHERE (id > 0)",
    "filtered by a column": "FOR TABLE t WHERE (v > 0)",
    "inserts alone": "FOR TABLE t WITH (publish = 'insert')",
}


@pytest.mark.parametrize("key", KEYS)
def test_the_condition_is_that_of_postgresql(server: SourceServer, key: str) -> None:
    """Each identity, column and way to be published: 84 shapes of a table, where PostgreSQL allows them."""
    source = Source(server, {"t": FULL})
    wrong, seen = [], set()
    for identity in IDENTITIES:
        for column, more in COLUMNS.items():
            source.run("DROP TABLE IF EXISTS t", f"CREATE TABLE t (id int {KEYS[key]}, v int{more})")
            try:
                source.run("INSERT INTO t VALUES (1, 1)", f"ALTER TABLE t REPLICA IDENTITY {identity}")
            except psycopg.Error:
                continue  # there is no such index
            for published, how in PUBLISHED.items():
                source.run("DROP PUBLICATION IF EXISTS one", f"CREATE PUBLICATION one {how}")
                broken = source.connection.execute(
                    f"SELECT l.relname {broken_members(chr(39) + 'one' + chr(39))}".encode()
                )
                said = bool(broken.fetchall())
                seen.add(said)
                if said == source.works("t"):
                    wrong.append((identity, column, published))
    assert wrong == []
    assert seen == {True, False}


def test_a_table_that_can_be_cured_stays_published_and_any_other_is_taken_out(server: SourceServer) -> None:
    source = Source(server, {"keyless": DEFAULT, "computed": FULL, "altered": FULL, "fine": DEFAULT})
    source.run(
        *(f"CREATE TABLE {name} (id int PRIMARY KEY, v int)" for name in ("keyless", "computed", "altered", "fine"))
    )
    source.prepare()
    assert source.protect() == {}
    source.run(
        "ALTER TABLE keyless DROP CONSTRAINT keyless_pkey",
        "ALTER TABLE computed ADD g int GENERATED ALWAYS AS (v * 2) VIRTUAL",
        "ALTER TABLE altered REPLICA IDENTITY NOTHING",
    )
    assert [source.works(name) for name in ("keyless", "computed", "altered", "fine")] == [False, False, False, True]
    failed = "because its updates failed:"
    assert source.protect() == {
        "public.keyless": f"was taken out of the publication, {failed} it has no usable replica identity",
        "public.computed": f"has replica identity DEFAULT now, {failed} FULL has a generated column"
        " that is not published",
        "public.altered": f"has replica identity FULL now, {failed} it has no usable replica identity",
    }
    assert all(source.works(name) for name in ("keyless", "computed", "altered", "fine"))
    assert source.published() == {"computed", "altered", "fine"}
    assert [source.identity(name) for name in ("computed", "altered", "fine")] == ["d", "f", "d"]
    assert source.protect() == {}
    assert source.outstanding() == [], "the next preparation would break them again"


def test_what_would_break_is_never_published(server: SourceServer) -> None:
    source = Source(server, {"late": DEFAULT, "fine": FULL})
    source.run(
        "CREATE TABLE late (id int PRIMARY KEY DEFERRABLE, v int)", "CREATE TABLE fine (id int PRIMARY KEY, v int)"
    )
    source.prepare()
    assert (source.published(), source.works("late")) == ({"fine"}, True)
    assert source.connection.execute(harmed(source.definition).encode()).fetchall() == [("public.late",)]
    source.run("ALTER TABLE late DROP CONSTRAINT late_pkey, ADD PRIMARY KEY (id)")
    assert source.outstanding() == [(f"lake_{source.name}", "add public.late")]


def test_the_pod_of_aws_does_the_same(server: SourceServer, tmp_path: Path) -> None:
    source, first = Source(server, {"keyless": DEFAULT, "computed": FULL, "twins": FULL}), Source(server, {"t": FULL})
    source.run(*(f"CREATE TABLE {name} (id int PRIMARY KEY, v int)" for name in ("keyless", "computed", "twins")))
    source.prepare()
    write_sql([first.definition, source.definition], tmp_path / "sql")
    write_logins(source.home, tmp_path / "lake", {"admin": ("postgres", source.home.secrets.postgres)})
    source.run(
        "ALTER TABLE keyless DROP CONSTRAINT keyless_pkey",
        "ALTER TABLE computed ADD g int GENERATED ALWAYS AS (v * 2) VIRTUAL",
        'ALTER TABLE twins ADD "ID" int',
    )
    done = run_psql(source.home, tmp_path, "guard.sh", "1")
    assert "was taken out of the publication, because its updates failed" in done.stderr, done
    assert "because the connector would stop at its columns: id and ID differ by case only" in done.stderr, done
    assert all(source.works(name) for name in ("keyless", "computed"))
    assert (source.published(), source.identity("computed")) == ({"computed"}, "d")


def test_partitions_and_children(server: SourceServer) -> None:
    """A new partition gets the identity of its root; a child by inheritance that was taken in is let go."""
    source = Source(server, {"root": FULL, "parent": FULL, "keyed": DEFAULT})
    source.run(
        "CREATE TABLE root (id int, v int) PARTITION BY RANGE (id)",
        "CREATE TABLE root_1 PARTITION OF root FOR VALUES FROM (0) TO (10)",
        "CREATE TABLE keyed (id int, v int) PARTITION BY RANGE (id)",
        "CREATE TABLE keyed_1 PARTITION OF keyed (PRIMARY KEY (id)) FOR VALUES FROM (0) TO (10)",
        "CREATE TABLE parent (id int PRIMARY KEY, v int)",
        "CREATE TABLE child (extra text) INHERITS (parent)",
    )
    source.prepare()
    source.run(
        "CREATE TABLE root_2 PARTITION OF root FOR VALUES FROM (10) TO (20)",
        "CREATE TABLE keyed_2 PARTITION OF keyed FOR VALUES FROM (10) TO (20)",
        "INSERT INTO root VALUES (1), (11)",
        "INSERT INTO keyed VALUES (1), (11)",
        "INSERT INTO child VALUES (2)",
    )
    if "child" not in source.published():
        source.run(f"ALTER PUBLICATION lake_{source.name} ADD TABLE child")
    assert [source.works(name) for name in ("root", "keyed", "parent")] == [False, False, False]
    done = source.protect()
    assert [source.works(name) for name in ("root", "keyed", "parent", "child")] == [True] * 4
    assert source.published() == {"root", "parent"}
    assert (source.identity("root_2"), source.identity("child")) == ("f", "d")
    assert set(done) == {"public.root", "public.keyed", "public.child"}
    assert "(of partition public.keyed_2)" in done["public.keyed"]


def test_a_lock_that_another_session_holds(server: SourceServer) -> None:
    """Readers are no reason to wait: the table is taken out. Behind a migration the next round tries again."""
    source = Source(server, {"read": FULL, "altered": FULL})
    source.run(*(f"CREATE TABLE {name} (id int PRIMARY KEY, v int)" for name in ("read", "altered")))
    source.prepare()
    source.run(*(f"ALTER TABLE {name} ADD g int GENERATED ALWAYS AS (v * 2)" for name in ("read", "altered")))
    with psycopg.connect(source.home.dsn(source.name)) as other:
        other.execute("SELECT FROM read")
        other.execute("LOCK TABLE altered IN ACCESS EXCLUSIVE MODE")
        done = source.protect()
    assert {name: what.split(",")[0] for name, what in done.items()} == {
        "public.read": "was taken out of the publication"
    }
    assert source.works("read") and not source.works("altered")
    assert "has replica identity DEFAULT" in source.protect()["public.altered"]
    assert source.works("altered")


def test_a_table_at_whose_columns_the_connector_would_stop_stops_no_other(server: SourceServer) -> None:
    """K2, 5 and 8: before its first change; what comes earlier is a place in the log that `lake recover` leads past."""
    source = Source(server, dict.fromkeys(("twins", "calm", "odd 100%", "dated"), FULL))
    source.run(
        *(f'CREATE TABLE "{name}" (id int PRIMARY KEY, v text)' for name in ("twins", "calm", "odd 100%", "dated"))
    )
    source.prepare()
    assert source.protect() == {}
    source.run('ALTER TABLE twins ADD "ID" int', 'ALTER TABLE "odd 100%" ADD "V%I" int, ADD "v%i" int')
    source.run("CREATE SCHEMA app", "CREATE DOMAIN app.date AS text", "ALTER TABLE dated ADD kind app.date")
    because = "was taken out of the publication, because the connector would stop at its columns:"
    assert source.protect() == {
        "public.twins": f"{because} id and ID differ by case only",
        "public.odd 100%": f"{because} V%I and v%i differ by case only",
        "public.dated": f"{because} kind app.date bears the name of a type of PostgreSQL",
    }
    assert source.published() == {"calm"}
    source.run('ALTER TABLE twins DROP COLUMN "ID"')
    assert source.protect() == {}


def test_what_was_mended_meanwhile_is_left_alone(server: SourceServer) -> None:
    """The migration adds its key in a second transaction, while the statement waits for the lock."""
    source = Source(server, {"moving": DEFAULT})
    source.run("CREATE TABLE moving (id int PRIMARY KEY, v int)")
    source.prepare()
    source.run("ALTER TABLE moving DROP CONSTRAINT moving_pkey")
    (decided,) = unmet(source.connection, source.name, [cures(source.definition)])
    source.run("ALTER TABLE moving ADD PRIMARY KEY (id)", decided.detail)
    assert source.published() == {"moving"}


def test_a_table_that_comes_back_is_read_again(server: SourceServer) -> None:
    """The pod that prepares a source on AWS goes by a note in lake.signal."""
    source = Source(server, {"t": DEFAULT})
    source.run("CREATE TABLE t (id int PRIMARY KEY, v int)")
    source.prepare()
    source.run("INSERT INTO lake.signal SELECT format('snapshot-%s-0', 't'::regclass::oid), 'log'")
    source.run("ALTER TABLE t DROP CONSTRAINT t_pkey")
    source.protect()
    assert source.connection.execute("SELECT id FROM lake.signal").fetchall() == []


REWRITES = {
    "VACUUM FULL t": [],
    "CLUSTER t USING t_pkey": [],
    "ALTER TABLE t ALTER v SET NOT NULL; VACUUM FULL t": ["was rewritten"],  # between two looks: rather once too often
    "ALTER TABLE t ALTER v SET NOT NULL": [],
    "ALTER TABLE t ALTER v TYPE bigint": ["was rewritten"],
    "ALTER TABLE t ALTER note TYPE text USING upper(note)": ["was rewritten"],
    "ALTER TABLE t ADD at timestamptz DEFAULT clock_timestamp()": ["was rewritten"],
    "DROP TABLE t; CREATE TABLE t (id int PRIMARY KEY, v int, note text)": ["was dropped", "primary key dropped"],
    "ALTER TABLE t DROP CONSTRAINT t_pkey; ALTER TABLE t ADD PRIMARY KEY (id)": ["primary key dropped"],
}
LABELS = ("stage", "stage[]", "stages", "stages[]", "step", "step[]", "stretch", "stretch[]", "stretches")


def test_a_rewrite_is_told_where_rows_may_be_others(server: SourceServer) -> None:
    source = Source(server, {"t": FULL})
    read = partial(facts.read_tables, source.connection, source.definition)
    for statement, told in REWRITES.items():
        source.run("DROP TABLE IF EXISTS t", "CREATE TABLE t (id int PRIMARY KEY, v int, note text)")
        source.run("INSERT INTO t VALUES (1, 1, 'a')")
        before = read()["public.t"]
        source.run(*statement.split("; "))
        found = [one.what for one in rules.of_table(source.definition, before, read()["public.t"])]
        assert [what in one for what, one in zip(told, found, strict=True)] == [True] * len(told), (statement, found)


def test_a_renamed_label_is_told_whatever_is_made_of_its_type(server: SourceServer) -> None:
    source = Source(server, {"t": FULL})
    source.run(
        "CREATE TYPE stage AS ENUM ('new', 'old')",
        "CREATE DOMAIN stages AS stage[]",
        "CREATE TYPE step AS (at timestamp, reached stage)",
        "CREATE TYPE stretch AS RANGE (subtype = stage, multirange_type_name = stretches)",
    )
    for number, kind in enumerate(LABELS):
        source.run("DROP TABLE IF EXISTS t", f"CREATE TABLE t (id int PRIMARY KEY, v {kind})")
        (before,) = facts.read_tables(source.connection, source.definition).values()
        source.run(f"ALTER TYPE stage RENAME VALUE 'old' TO 'old{number}'", "INSERT INTO t VALUES (1)")
        (after,) = facts.read_tables(source.connection, source.definition).values()
        (found,) = rules.of_table(source.definition, before, after)
        assert f"old to old{number}" in found.what, kind
        source.run(f"ALTER TYPE stage RENAME VALUE 'old{number}' TO 'old'")


def test_another_attribute_is_told_whatever_is_made_of_its_type(server: SourceServer) -> None:
    """PostgreSQL writes (1,a,) for (1,a) once the type has a third attribute, and no row has an event."""
    source = Source(server, {"t": FULL})
    source.run(
        "CREATE TYPE part AS (n int, note text)", "CREATE DOMAIN parts AS part[]", "CREATE TYPE whole AS (p part)"
    )
    for number, kind in enumerate(("part", "part[]", "parts", "whole", "whole[]")):
        source.run("DROP TABLE IF EXISTS t", f"CREATE TABLE t (id int PRIMARY KEY, v {kind})")
        (before,) = facts.read_tables(source.connection, source.definition).values()
        source.run(f"ALTER TYPE part ADD ATTRIBUTE more{number} int")
        (after,) = facts.read_tables(source.connection, source.definition).values()
        (found,) = rules.of_table(source.definition, before, after)
        assert found.what.endswith("got or lost an attribute: part"), kind
        source.run(f"ALTER TYPE part RENAME ATTRIBUTE more{number} TO last{number}")
        (renamed,) = facts.read_tables(source.connection, source.definition).values()
        assert not [*rules.of_table(source.definition, after, renamed)], kind


def test_the_encoding_of_a_database_without_one_can_be_read(server: SourceServer) -> None:
    """Its driver would give bytes for text."""
    definition = Database.model_validate({"database": "ascii", "tables": {"public.t": {"key": ["id"]}}})
    with psycopg.connect(server.home.dsn(), autocommit=True) as connection:
        connection.execute("CREATE DATABASE ascii ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0")
    server.execute("CREATE TABLE t (id int PRIMARY KEY, note text)", "ascii")
    found = read_source(server.home, definition).catalog
    assert (found.wal_level, found.encoding, list(found.tables)) == ("logical", "SQL_ASCII", ["public.t"])


def test_what_no_definition_knows_is_named(server: SourceServer) -> None:
    """By its name and its database: a slot of somebody else is none of ours."""
    source, other = Source(server, {"t": FULL}), Source(server, {"t": FULL})
    source.run(
        f"CREATE PUBLICATION lake_{source.name}",
        f"SELECT pg_create_logical_replication_slot('lake_{source.name}', 'pgoutput')",
        f"SELECT pg_create_logical_replication_slot('lake_{other.name}_x', 'pgoutput')",
    )

    def named(*known: str) -> list[str]:
        found = leftovers.leftovers(source.home, None, known)
        return [one.what.split(" of ")[0] for one in found if one.database in (source.name, other.name)]

    assert named() == [f"slot lake_{source.name}", f"publication lake_{source.name}"]
    assert named(source.name) == []
    source.run(*(f"SELECT pg_drop_replication_slot('lake_{one}')" for one in (source.name, f"{other.name}_x")))


def test_what_leaves_gives_back_what_was_before(server: SourceServer) -> None:
    source = Source(server, {"keyless": FULL, "keyed": FULL, "indexed": FULL, "stays": FULL})
    source.run(
        "CREATE TABLE keyless (id int, v int)",
        "CREATE TABLE keyed (id int PRIMARY KEY, v int)",
        "CREATE TABLE indexed (id int UNIQUE NOT NULL, v int)",
        "ALTER TABLE indexed REPLICA IDENTITY USING INDEX indexed_id_key",
        "CREATE TABLE stays (id int PRIMARY KEY, v int)",
        "ALTER TABLE stays REPLICA IDENTITY FULL",
    )
    before = [source.identity(name) for name in ("keyless", "keyed", "indexed", "stays")]
    for _ in range(2):  # a second apply finds them changed, and what was before stays noted
        leaving.note_identities(source.home, source.definition)
        source.prepare()
    assert {source.identity(name) for name in ("keyless", "keyed", "indexed", "stays")} == {"f"}
    some = source.definition.model_copy(
        update={"by_name": {"public.keyless": source.definition.by_name["public.keyless"]}}
    )
    source.run(*leaving.statements(source.home, some, whole=False))
    assert (source.identity("keyless"), source.published()) == ("d", {"keyed", "indexed", "stays"})
    assert source.works("keyless")
    source.run(*leaving.statements(source.home, source.definition, whole=True))
    assert [source.identity(name) for name in ("keyless", "keyed", "indexed", "stays")] == before
    assert source.published() == set()
    left = "SELECT (SELECT count(*) FROM pg_publication), to_regnamespace('lake')"
    assert source.connection.execute(left.encode()).fetchall() == [(0, None)]
    granted = "SELECT has_table_privilege('lake_capture', 'keyed', 'SELECT')"
    assert source.connection.execute(granted.encode()).fetchall() == [(False,)]
