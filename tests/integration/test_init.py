"""`lake init --yes --apply`: two well-known databases as they are, and a server of a person's own, proven equal."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from lake.samples import northwind, pagila
from tests.running_lake import RunningLake
from tests.second_server import PASSWORD, SecondServer, second_server

pytestmark = pytest.mark.slow  # all rows of two databases are read four times
WHOLE = {"pagila_whole": pagila, "northwind_whole": northwind}
OWN = "own_shop"
TABLES = (
    "CREATE TABLE orders (id int PRIMARY KEY, note text)",
    "CREATE TABLE lines (order_id int, line int, price numeric(10, 2), PRIMARY KEY (order_id, line))",
    "CREATE VIEW totals AS SELECT order_id, sum(price) FROM lines GROUP BY 1",
    "CREATE UNLOGGED TABLE carts (id int PRIMARY KEY)",
    "INSERT INTO orders SELECT n, chr(233) || ' note ' || n FROM generate_series(1, 100) n",
    "INSERT INTO lines SELECT n, 1, n / 3.0 FROM generate_series(1, 100) n",
)
# The bundled server has no such extension.
LABELS = (
    "CREATE EXTENSION hstore",
    "CREATE DOMAIN tagged AS hstore",
    "CREATE TYPE labelled AS (n int, tags hstore)",
    "CREATE TABLE labels (id int PRIMARY KEY, tags hstore, several hstore[], domain tagged)",
    "CREATE TABLE label_texts (id int PRIMARY KEY, label labelled)",
    """INSERT INTO label_texts VALUES (1, (1, 'b=>1, a=>NULL, "a b"=>"x, y"')), (2, (NULL, NULL)), (3, NULL)""",
)
CHANGES = (
    "UPDATE orders SET note = chr(228) || 'changed' WHERE id <= 10",
    "DELETE FROM lines WHERE order_id > 90",
    # Two-phase commit, in one session each and finished by another one.
    "BEGIN; INSERT INTO orders VALUES (101, 'both'); UPDATE lines SET price = 0 WHERE order_id = 1; "
    "PREPARE TRANSACTION 'first'",
    "BEGIN; DELETE FROM orders WHERE id > 50; PREPARE TRANSACTION 'second'",
    "UPDATE orders SET note = 'between' WHERE id = 11",
    "COMMIT PREPARED 'first'",
    "ROLLBACK PREPARED 'second'",
)


@pytest.fixture(scope="module")
def own(lake: RunningLake, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecondServer]:
    """On a port behind those of the lake."""
    with second_server(lake, tmp_path_factory.mktemp("own"), lake.port_base + 20) as server:
        server.execute("postgres", f"CREATE DATABASE {OWN} ENCODING 'LATIN1' TEMPLATE template0")
        server.execute(OWN, *TABLES, *(LABELS if server.has_extensions else ()))
        yield server
        lake.forget(OWN)


@pytest.fixture(scope="module")
def captured(lake: RunningLake, own: SecondServer) -> Iterator[dict[str, Any]]:
    """What `lake init` said of each database; all of them are proven at once."""
    for name, sample in WHOLE.items():
        sample.load(lake.home, database=name)
    said = {name: lake.json("init", name, "--yes", "--apply") for name in WHOLE}
    word = lake.data / "word"
    word.write_text(f"{PASSWORD}\n")
    said[OWN] = lake.json("init", own.dsn(OWN), "--password-file", str(word), "--exclude", "*_tmp", "--yes", "--apply")
    yield said
    for name in WHOLE:
        lake.forget(name)


def test_all_tables_are_captured_and_views_are_listed(own: SecondServer, captured: dict[str, Any]) -> None:
    left = {name: {one["table"] for one in said["tables"] if not one["chosen"]} for name, said in captured.items()}
    assert left["northwind_whole"] == set()
    assert left[OWN] == {"public.totals", "public.carts", *(["public.labels"] if own.has_extensions else [])}
    views = {"actor_info", "customer_list", "film_list", "sales_by_film_category", "sales_by_store", "staff_list"}
    assert left["pagila_whole"] == {f"public.{view}" for view in views}
    reasons = {one["table"]: one["reasons"] for said in captured.values() for one in said["tables"]}
    assert all("view" in reasons[f"public.{view}"][0]["what"] for view in (*views, "totals"))
    assert "unlogged" in reasons["public.carts"][0]["what"]
    assert captured[OWN]["server"]["encoding"] == "LATIN1"
    unmapped = "tags hstore, several hstore[], domain hstore"
    assert not own.has_extensions or unmapped in reasons["public.labels"][0]["what"]


def test_the_lake_equals_every_source(lake: RunningLake, own: SecondServer, captured: dict[str, Any]) -> None:
    for statement in CHANGES:
        own.execute(OWN, statement)
    proof = lake.json("verify", *captured)
    assert proof["equal"], {name: one["differences"] for name, one in proof["tables"].items() if not one["equal"]}
    chosen = sum(one["chosen"] for said in captured.values() for one in said["tables"])
    assert len(proof["tables"]) == chosen


def test_a_second_apply_changes_nothing_and_a_second_init_keeps_the_file(
    lake: RunningLake, own: SecondServer, captured: dict[str, Any]
) -> None:
    assert [one for one in lake.json("plan") if one["database"] in captured] == []
    before = (lake.databases / f"{OWN}.yaml").read_text()
    again = lake.run("init", own.dsn(OWN), "--password-file", str(lake.data / "word"), "--yes", check=False)
    assert again.returncode == 2 and "the definition exists" in again.stderr
    assert (lake.databases / f"{OWN}.yaml").read_text() == before


def test_no_password_is_in_a_file_of_the_lake_or_a_log(
    lake: RunningLake, own: SecondServer, captured: dict[str, Any]
) -> None:
    hidden = [PASSWORD, lake.home.secrets.lake_capture, lake.home.secrets.lake_verify]
    places = [lake.databases, lake.home.rendered, lake.home.logs, own.folder / "log"]
    files = [path for place in places for path in ([place] if place.is_file() else place.rglob("*")) if path.is_file()]
    found = [(path, word) for path in files for word in hidden if word in path.read_text(errors="replace")]
    assert found == []


def test_the_report_names_everything_that_stands_in_the_way(lake: RunningLake, captured: dict[str, Any]) -> None:
    done = lake.run("init", "pagila_whole", "--check")
    assert "public.film " in done.stdout and "public.film_list: it is a view" in done.stdout
    assert json.dumps(captured["pagila_whole"]["server"]["encoding"]) == '"UTF8"'
