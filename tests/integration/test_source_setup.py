"""The inside of a source database is prepared as `lake apply` prepares it, by the SQL and programs of the chart."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import psycopg
import pytest
from confluent_kafka.admin import AdminClient

from lake.clients.connect import Connect
from lake.config.definition import Database
from lake.config.environment import LOOPBACK
from lake.config.errors import LakeError
from lake.config.waiting import wait_until
from lake.sources.connector import source_connector
from lake.sources.postgres.catalog import read_source
from lake.sources.postgres.roles import CAPTURE, REGISTRY, USERS, VERIFY
from tests.clocks import HANG_S
from tests.integration import readers
from tests.integration.source_server import PROGRAMS, SourceServer, prepare, run_psql
from tests.running_lake import RunningLake

pytestmark = pytest.mark.integration
LATE = LakeError("not set up", f"within {HANG_S:.0f} s", "see the log")
PORTS = {"plain": 28200, "rds": 28300}
ADMIN = "lake_admin"
UNPREPARED = "the source is not prepared"
# What RDS makes of its administrator: no superuser; may hand on the role that stands for REPLICATION.
LIKE_RDS = (
    f"CREATE ROLE {ADMIN} LOGIN CREATEROLE CREATEDB PASSWORD 'as-secret-as-any'",
    "CREATE ROLE rds_replication",
    f"GRANT rds_replication TO {ADMIN} WITH ADMIN OPTION",
)
ITEMS = Database.model_validate(
    {
        "database": "shop",
        "tables": {
            "public.items": {"key": ["id"]},
            "public.orders": {"key": ["id"], "replica_identity": "default"},
            "sales.parts": {"key": ["id"]},
        },
    }
)
TABLES = (
    "CREATE TABLE public.items (id int PRIMARY KEY, name text)",
    "CREATE SCHEMA sales",
    "CREATE TABLE sales.parts (id int PRIMARY KEY) PARTITION BY RANGE (id)",
    "CREATE TABLE sales.parts_1 PARTITION OF sales.parts FOR VALUES FROM (0) TO (9)",
)
ADDED = [(f"add {table}", "lake_shop") for table in ("lake.heartbeat", "lake.signal", "public.items", "sales.parts")]
MEMBERS = {"public.items", "sales.parts", "lake.heartbeat", "lake.signal"}


class Prepared:
    """A server, its administrator, and the passwords of the secrets."""

    def __init__(self, server: SourceServer, kind: str) -> None:
        self.server, self.kind = server, kind
        self.passwords = {user: f"first-{user}-password" for user in USERS}
        superuser = ("postgres", server.home.secrets.postgres)
        self.admin = (ADMIN, "as-secret-as-any") if kind == "rds" else superuser

    def run(self, definition: Database = ITEMS, captured: str = "", admin: tuple[str, str] | None = None) -> str:
        """What a run says; fails where it fails."""
        done = self.attempt(definition, captured, admin)
        assert done.returncode == 0, done.stderr
        return str(done.stdout + done.stderr)

    def attempt(self, definition: Database = ITEMS, captured: str = "", admin: tuple[str, str] | None = None):  # type: ignore[no-untyped-def]
        logins = {"admin": admin or self.admin, **{user: (user, word) for user, word in self.passwords.items()}}
        known = {definition.database: captured} if captured else {}
        return prepare(self.server.home, self.server.folder, logins, [definition], known)

    def login(self, user: str, password: str, database: str = "shop") -> psycopg.Connection:
        port = self.server.home.ports.postgres
        return psycopg.connect(host=LOOPBACK, port=port, user=user, password=password, dbname=database)

    def as_admin(self, *statements: str, database: str = "shop") -> None:
        with self.login(*self.admin, database) as connection:
            for statement in statements:
                connection.execute(statement.encode())

    def members(self) -> set[str]:
        query = "SELECT schemaname || '.' || tablename FROM pg_publication_tables WHERE pubname = 'lake_shop'"
        return {row[0] for row in self.server.execute(query, "shop")}

    def signals(self) -> list[tuple[str, str]]:
        rows = self.server.execute("SELECT type, data FROM lake.signal ORDER BY data", "shop")
        return [(row[0], row[1]) for row in rows]


@pytest.fixture(scope="module", params=["plain", "rds"])
def prepared(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prepared]:
    """An empty server, prepared once before a table is there and once after."""
    server = SourceServer(tmp_path_factory.mktemp(request.param), PORTS[request.param])
    server.start()
    try:
        for statement in LIKE_RDS if request.param == "rds" else ():
            server.execute(statement)
        made = Prepared(server, request.param)
        first = made.run()
        assert "CREATE ROLE" in first and "WARNING: public.items does not exist yet" in first
        assert made.members() == {"lake.heartbeat", "lake.signal"}
        made.as_admin(*TABLES)
        assert "ADD TABLE ONLY sales.parts" in made.run()
        yield made
    finally:
        server.stop()


def test_a_table_that_appears_later_is_added_and_a_missing_one_is_named(prepared: Prepared) -> None:
    assert prepared.members() == MEMBERS
    assert "WARNING: public.orders does not exist yet" in prepared.run()


def test_twice_is_once(prepared: Prepared) -> None:
    said = prepared.run().splitlines()
    assert said == [
        "database shop",
        "WARNING: public.orders does not exist yet; it is captured by the first run that finds it",
    ]


THERE = Database.model_validate(
    {"database": "shop", "tables": {"public.items": {"key": ["id"]}, "sales.parts": {"key": ["id"]}}}
)


def test_nothing_is_left_for_lake_apply_to_do_in_the_source(prepared: Prepared) -> None:
    found = read_source(prepared.server.home, THERE)
    assert (found.missing, found.departed) == ([], [])


def test_a_database_of_which_nothing_is_applied_yet_can_be_asked(prepared: Prepared) -> None:
    found = read_source(prepared.server.home, THERE.model_copy(update={"by_name": {}}))
    assert (found.missing, len(found.departed)) == ([], 2)


NARROW = "ALTER PUBLICATION lake_shop {} TABLE public.items"


@pytest.mark.parametrize(
    ("drift", "missing"),
    [
        (NARROW.format("DROP"), [("add public.items", "lake_shop")]),
        (
            f"{NARROW.format('DROP')}; {NARROW.format('ADD')} WHERE (id > 1)",
            [("drop public.items, which is published in part only", "lake_shop"), ("add public.items", "lake_shop")],
        ),
        ("ALTER PUBLICATION lake_shop SET (publish = 'insert')", [("set publication options", "lake_shop")]),
        ("ALTER TABLE sales.parts_1 REPLICA IDENTITY NOTHING", [("replica identity full", "sales.parts_1")]),
        ("REVOKE DELETE ON lake.signal FROM lake_capture", [("grant to lake_capture", "lake.signal")]),
        ("REVOKE USAGE ON SCHEMA sales FROM lake_verify", [("grant to lake_verify", "sales")]),
        ("REVOKE SELECT ON items FROM lake_verify", [("grant to lake_verify", "public.items")]),
        ("DROP PUBLICATION lake_shop", [("create publication", "lake_shop"), *ADDED]),
        (
            "DROP TABLE lake.heartbeat",
            [
                ("create table", "lake.heartbeat"),
                ("add lake.heartbeat", "lake_shop"),
                ("grant to lake_capture", "lake.heartbeat"),
            ],
        ),
    ],
)
def test_drift_is_found_and_put_right_by_the_same_list(
    prepared: Prepared, drift: str, missing: list[tuple[str, str]]
) -> None:
    environment = prepared.server.home
    prepared.as_admin(*drift.split("; "))
    found = read_source(environment, THERE).missing
    assert [(change.action, change.object) for change in found] == missing
    prepared.as_admin(*(change.detail for change in found))
    assert read_source(environment, THERE).missing == []


def test_the_question_waits_for_no_lock_and_writes_nothing(prepared: Prepared) -> None:
    """A plan beside somebody's ALTER TABLE, which may hold its lock for hours."""
    environment = prepared.server.home
    locked = ("LOCK items, sales.parts, lake.signal IN ACCESS EXCLUSIVE MODE", "SELECT pg_current_wal_insert_lsn()")
    with prepared.login(*prepared.admin) as connection:
        before = [connection.execute(statement.encode()) for statement in locked][1].fetchone()
        assert read_source(environment, THERE).missing == []
        assert connection.execute(b"SELECT pg_current_wal_insert_lsn()").fetchone() == before


def test_a_database_may_have_any_name(prepared: Prepared) -> None:
    name = 'it\'s a "shop" = 50 €'
    assert "CREATE DATABASE" in prepared.run(ITEMS.model_copy(update={"database": name}))
    assert prepared.server.execute("SELECT count(*) FROM pg_publication", name) == [(1,)]


def test_every_user_has_the_rights_of_its_work_and_no_more(prepared: Prepared) -> None:
    query = "SELECT rolname, rolreplication, rolsuper, rolcreatedb, rolcreaterole, rolcanlogin FROM pg_roles"
    roles = {row[0]: row[1:] for row in prepared.server.execute(query)}
    replication = prepared.kind == "plain"
    assert roles[CAPTURE] == (replication, False, False, False, True)
    assert roles[VERIFY] == roles[REGISTRY] == (False, False, False, False, True)
    if prepared.kind == "rds":
        assert prepared.server.execute("SELECT pg_has_role('lake_capture', 'rds_replication', 'MEMBER')") == [(True,)]
    assert owner(prepared, "registry") == REGISTRY
    with prepared.login(VERIFY, prepared.passwords[VERIFY]) as connection:
        assert connection.execute("SELECT count(*) FROM items").fetchone() == (0,)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("SELECT * FROM lake.signal")


def owner(prepared: Prepared, database: str) -> str:
    query = f"SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = '{database}'"
    return str(prepared.server.execute(query)[0][0])


def test_the_registry_makes_its_tables(prepared: Prepared) -> None:
    with prepared.login(REGISTRY, prepared.passwords[REGISTRY], "registry") as connection:
        connection.execute("CREATE TABLE artifacts (id int)")


def test_a_new_password_of_the_secret_is_that_of_the_user(prepared: Prepared) -> None:
    before = prepared.passwords[VERIFY]
    prepared.passwords[VERIFY] = "second-lake_verify-password"
    assert "password of lake_verify: as in its secret" in prepared.run()
    prepared.login(VERIFY, prepared.passwords[VERIFY]).close()
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        prepared.login(VERIFY, before)


def test_no_password_is_in_the_log_of_the_server(prepared: Prepared) -> None:
    log = prepared.server.log.read_text()
    assert 'ALTER ROLE "lake_capture" PASSWORD \'SCRAM-SHA-256$4096:' in log
    assert [word for word in (*prepared.passwords.values(), "first-lake_verify-password") if word in log] == []


def test_an_administrator_who_does_not_own_the_table_is_told_in_one_line(prepared: Prepared) -> None:
    server = prepared.server
    server.execute("CREATE ROLE weak LOGIN CREATEROLE PASSWORD 'weak'")
    for statement in ("GRANT USAGE ON SCHEMA lake, sales TO weak", "ALTER TABLE items REPLICA IDENTITY DEFAULT"):
        server.execute(statement, "shop")
    done = prepared.attempt(admin=("weak", "weak"))
    server.execute("ALTER TABLE items REPLICA IDENTITY FULL", "shop")
    assert done.returncode == 3
    (problem,) = [line for line in done.stderr.splitlines() if "ERROR" in line]
    assert problem.endswith("ERROR:  must be owner of table items")
    assert "ALTER TABLE ONLY public.items REPLICA IDENTITY FULL" in done.stderr
    assert prepared.members() == MEMBERS


def test_a_wrong_password_of_the_administrator_is_told(prepared: Prepared) -> None:
    done = prepared.attempt(admin=(prepared.admin[0], "wrong"))
    assert done.returncode == 2
    assert "password authentication failed" in done.stderr and "wrong" not in done.stderr
    assert UNPREPARED in done.stderr


def test_a_database_that_fails_does_not_hold_up_the_others(prepared: Prepared) -> None:
    """bare comes first; a view can't be published."""
    bare = Database.model_validate({"database": "bare", "tables": {"public.a": {"key": ["id"]}}})
    server = prepared.server
    server.execute("CREATE DATABASE bare")
    server.execute("CREATE VIEW a AS SELECT 1 AS id", "bare")
    logins = {"admin": prepared.admin, **{user: (user, word) for user, word in prepared.passwords.items()}}
    done = prepare(server.home, server.folder, logins, [bare, ITEMS])
    server.execute("DROP DATABASE bare")
    assert done.returncode == 3
    assert UNPREPARED in done.stderr and "ERROR" in done.stderr
    assert done.stdout.splitlines()[:2] == ["database bare", "database shop"]


def test_rows_from_before_the_publication_are_asked_for_once_the_connector_reads_the_table(prepared: Prepared) -> None:
    """And only then; a table that leaves the definition is let go of, and its return is a new arrival."""
    first = ("log", '{"message" : "public.items is read by the first snapshot"}')
    assert first in prepared.signals()
    prepared.server.execute("SELECT pg_create_logical_replication_slot('lake_shop', 'pgoutput')", "shop")
    prepared.as_admin("CREATE TABLE public.orders (id int PRIMARY KEY)")
    asked = ("execute-snapshot", '{"data-collections" : ["public.orders"], "type" : "incremental"}')
    prepared.run()
    prepared.run(captured="public.items,sales.parts")
    assert asked not in prepared.signals()
    prepared.run(captured="public.items,public.orders,sales.parts")
    prepared.run(captured="public.items,public.orders,sales.parts")
    assert prepared.signals().count(asked) == 1
    fewer = Database.model_validate({"database": "shop", "tables": {"public.items": {"key": ["id"]}}})
    prepared.run(fewer)
    prepared.run(fewer, captured="public.items,public.orders,sales.parts")
    assert "public.orders" in prepared.members()
    prepared.run(fewer, captured="public.items")
    assert prepared.members() == {"public.items", "lake.heartbeat", "lake.signal"}
    assert asked not in prepared.signals()
    prepared.run(captured="public.items,public.orders,sales.parts")
    assert prepared.signals().count(asked) == 1


CATALOGUE = Database.model_validate({"database": "catalogue", "tables": {"public.books": {"key": ["id"]}}})
# As on AWS, where Connect makes the topics itself.
MADE_BY_CONNECT = {"topic.creation.default.replication.factor": "1", "topic.creation.default.partitions": "1"}


@pytest.fixture
def unattended(lake: RunningLake, tmp_path: Path) -> Iterator[Callable[[], str]]:
    """Prepares the database catalogue of the shared lake as the schedule does, and captures it."""
    home = lake.home
    secrets = vars(home.secrets)
    logins = {"admin": ("postgres", secrets["postgres"]), **{user: (user, secrets[user]) for user in USERS}}

    def run() -> str:
        """The steps of the pod, in their order."""
        first = prepare(home, tmp_path, logins, [CATALOGUE])
        pair = f"{CATALOGUE.database}={CATALOGUE.connector}"
        secret = tmp_path / "connect.json"
        secret.write_text(json.dumps(dict(zip(("username", "password"), home.connect_login, strict=True))))
        program = [sys.executable, str(PROGRAMS / "captured_tables.py")]
        ask = [*program, home.connect, str(tmp_path / "lake"), str(secret), "1", pair]
        asked = subprocess.run(ask, check=True, capture_output=True, text=True)
        second = run_psql(home, tmp_path)
        assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
        return "".join(step.stdout + step.stderr for step in (first, asked, second))

    run()
    connect = Connect(home)
    connect.put({**source_connector(CATALOGUE, home), **MADE_BY_CONNECT})
    try:
        yield run
    finally:
        httpx.delete(
            f"{home.connect}/connectors/{CATALOGUE.connector}", trust_env=False, auth=home.connect_login
        ).raise_for_status()


def test_rows_of_a_table_that_came_after_the_connector_arrive_all_the_same(
    lake: RunningLake, unattended: Callable[[], str]
) -> None:
    """Debezium starts on a publication without a captured table, and reads what was written before it was published."""
    wait_until(lambda: streams(lake), HANG_S, LATE)
    lake.execute("catalogue", "CREATE TABLE books (id int PRIMARY KEY)", "INSERT INTO books VALUES (1), (2)")
    told = unattended()
    assert "ADD TABLE ONLY public.books" in told
    # Not before the first snapshot, of nothing, is over: on a slow machine it is, before the first run has ended.
    wait_until(lambda: "execute-snapshot" in told or "execute-snapshot" in unattended(), HANG_S, LATE)
    lake.execute("catalogue", "INSERT INTO books VALUES (3)")
    topic = CATALOGUE.tables[0].topic(CATALOGUE.database)
    wait_until(lambda: keys(lake, topic) == {1, 2, 3}, HANG_S, LATE)
    said = f"{CATALOGUE.connector}: reads (?-i)public.books"
    assert unattended().splitlines() == ["database catalogue", said, "database catalogue"]


def streams(lake: RunningLake) -> bool:
    query = "SELECT 1 FROM pg_replication_slots WHERE slot_name = 'lake_catalogue' AND active"
    return readers.source_rows(lake.home, "catalogue", query) == [(1,)]


def keys(lake: RunningLake, topic: str) -> set[int]:
    if topic not in AdminClient({"bootstrap.servers": lake.home.kafka_bootstrap}).list_topics(timeout=10).topics:
        return set()
    return {record["id"] for record in readers.topic_records(lake.home, topic)}
