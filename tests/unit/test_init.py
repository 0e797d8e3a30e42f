"""From a server to a definition: the DSN, the choice of tables, and the file."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from lake.cli import init, init_output
from lake.cli.main import main
from lake.config.definition import load_database
from lake.config.errors import BadInput
from lake.config.patterns import first_met, is_pattern, meets
from lake.discovery import writing
from lake.discovery.candidates import Candidate, Found, Reason
from lake.discovery.dsn import Target, place_of_password, target
from lake.sources.postgres.survey import Relation, Survey

HIDDEN = "hunter2"
HERE = Target(None, {}, "shop")


def candidate(name: str, *reasons: Reason, schema: str = "public", **settings: Any) -> Candidate:
    relation = Relation(schema, name, "table", 1000, 65536, ["id"], {"id": "integer"})
    return Candidate(relation, {"key": ["id"], **settings}, reasons)


def found(*candidates: Candidate, limit: int = 1024, reasons: tuple[Reason, ...] = ()) -> Found:
    return Found("shop", Survey("18.1", "UTF8", limit, []), reasons, candidates)


SHOP = found(
    candidate("orders"),
    candidate("lines", schema="sales", replica_identity="default"),
    candidate("orders_tmp"),
    candidate("totals", Reason("it is a view", "capture the tables behind it")),
)


@pytest.mark.parametrize(
    ("dsn", "says"),
    [
        (f"postgresql://boss:{HIDDEN}@h/shop", "holds a password"),
        (f"host=h dbname=shop password={HIDDEN}", "holds a password"),
        (f"postgresql://h/shop?password={HIDDEN}", "holds a password"),
        ("postgresql://boss@h:port/shop", "port is no number"),
        ("postgresql:///shop", "names no host"),
        ("postgresql://h/shop?sslcert=x", "parameters that are not read: sslcert"),
        ("postgresql://h/shop?sslmode=verify-full", "needs the authorities"),
        ("postgresql://h/shop?sslmode=allow", "sslmode|'disable'"),
    ],
)
def test_a_wrong_dsn_is_refused_and_not_shown(
    dsn: str, says: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["lake", "init", dsn, "--yes"])
    with pytest.raises(SystemExit) as left:
        main()
    shown = "".join(capsys.readouterr())
    assert left.value.code == 2
    assert HIDDEN not in shown
    assert any(words in shown for words in says.split("|")), shown


@pytest.mark.parametrize(
    ("dsn", "keys"),
    [
        ("postgresql://db.example.com/shop", {"port": 5432, "user": "postgres", "sslmode": "require"}),
        ("postgresql://boss@localhost:5555/shop", {"port": 5555, "user": "boss", "sslmode": "prefer"}),
        ("host=h dbname=shop sslmode=disable", {"host": "h", "sslmode": "disable"}),
        ("postgresql://h/shop?sslrootcert=/ca.pem", {"ca_file": "/ca.pem", "sslmode": "verify-full"}),
    ],
)
def test_a_dsn_becomes_the_source_of_a_definition(dsn: str, keys: dict[str, Any]) -> None:
    wanted = target(dsn, {"env": "SHOP_PASSWORD"})
    assert wanted.database == "shop"
    assert {key: wanted.keys[key] for key in keys} == keys
    assert wanted.keys["password"] == {"env": "SHOP_PASSWORD"}


def test_a_name_is_a_database_of_the_lake() -> None:
    assert target("shop", {}) == HERE


def test_a_password_has_one_place() -> None:
    assert place_of_password(None, None, "shop/admin") == {"secret": "shop/admin"}
    with pytest.raises(BadInput, match="several places"):
        place_of_password("A", "b", None)


@pytest.mark.parametrize(
    ("pattern", "met"),
    [
        ("*", ["public.orders", "sales.order", "sales.orders_tmp"]),
        ("sales.*", ["sales.order", "sales.orders_tmp"]),
        ("*_tmp", ["sales.orders_tmp"]),
        ("sales.order?", []),
        ("public.order?", ["public.orders"]),
        ("public.[o]rders", []),
    ],
)
def test_patterns(pattern: str, met: list[str]) -> None:
    names = ["public.orders", "sales.order", "sales.orders_tmp"]
    assert [name for name in names if meets(pattern, name)] == met
    assert first_met(["no.*", pattern], "public.none.") in (None, pattern)


def test_what_is_in_quotes_is_no_pattern() -> None:
    assert is_pattern("public.*") and is_pattern('"a.b".?') and not is_pattern('public."a*b"')


@pytest.mark.parametrize(
    ("answer", "names"),
    [
        ("all", ["public.orders", "sales.lines", "public.orders_tmp"]),
        ("1,3", ["public.orders", "public.orders_tmp"]),
        ("2-3", ["sales.lines", "public.orders_tmp"]),
        ("sales.*, 1", ["public.orders", "sales.lines"]),
    ],
)
def test_an_answer_chooses_tables(answer: str, names: list[str]) -> None:
    assert [one.full_name for one in init_output.chosen_by(answer, SHOP.capturable)] == names


@pytest.mark.parametrize("answer", ["9", "no.*", "0"])
def test_an_answer_that_means_nothing_is_said(answer: str) -> None:
    with pytest.raises(BadInput, match="means no table"):
        init_output.chosen_by(answer, SHOP.capturable)


def test_the_file_is_a_definition_and_lists_what_is_left_out(tmp_path: Path) -> None:
    path, keys = tmp_path / "shop.yaml", target("host=h dbname=shop", {"env": "SHOP_PASSWORD"}).keys
    writing.write(path, writing.text(Target(None, keys, "shop"), SHOP, SHOP.capturable[:2]), may_replace=False)
    database = load_database(path)
    assert list(database.by_name) == ["public.orders", "sales.lines"]
    assert database.by_name["sales.lines"].replica_identity == "default"
    assert database.source and database.source.host == "h"
    text = path.read_text()
    assert "#   public.orders_tmp: not chosen" in text and "#   public.totals: it is a view" in text
    assert [one.name for one in tmp_path.iterdir()] == ["shop.yaml"]


def test_a_file_that_exists_stays_unless_it_may_be_replaced(tmp_path: Path) -> None:
    path, text = tmp_path / "shop.yaml", writing.text(HERE, SHOP, SHOP.capturable[:1])
    path.write_text("mine")
    with pytest.raises(BadInput, match=r"the definition exists; .*shop.yaml; .*--replace"):
        writing.write(path, text, may_replace=False)
    assert path.read_text() == "mine"
    writing.write(path, text, may_replace=True)
    assert list(load_database(path).by_name) == ["public.orders"]


def test_an_interruption_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(path: Path) -> None:
        raise SystemExit(130)

    monkeypatch.setattr(writing, "load_database", interrupted)
    with pytest.raises(SystemExit):
        writing.write(tmp_path / "shop.yaml", "database: shop\n", may_replace=False)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["yes", "a: b", "größe", "-x", "1", "a'b", 'a"b', "#x"])
def test_any_name_is_read_back_as_it_was(name: str) -> None:
    from ruamel.yaml import YAML

    assert YAML(typ="safe", pure=True).load(f"[{writing.scalar(name)}]") == [name]


def test_include_and_exclude_choose_among_what_can_be_captured() -> None:
    chosen = [one.full_name for one in SHOP.capturable if init.is_wanted(one, ["public.*"], ["*_tmp"])]
    assert chosen == ["public.orders"]


def test_a_log_without_a_limit_is_accepted_in_the_definition_by_yes_alone(capsys: pytest.CaptureFixture[str]) -> None:
    own, unlimited = target("postgresql://h/shop", {}), Survey("18.1", "UTF8", -1, [])
    assert init.accept_limit(own, unlimited, yes=False, ask=True) == own  # this is no terminal
    accepted = init.accept_limit(own, unlimited, yes=True, ask=True)
    assert "max_slot_wal_keep_size is -1" in capsys.readouterr().err
    assert accepted.source and accepted.source.unlimited_log
    assert "unlimited_log: true" in writing.text(accepted, SHOP, SHOP.capturable)
    for wanted, read in ((own, SHOP.survey), (HERE, unlimited)):
        assert init.accept_limit(wanted, read, yes=True, ask=True) == wanted
    assert capsys.readouterr().err == ""


def test_a_report_fits_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    init_output.show(SHOP, SHOP.capturable[:1])
    shown = capsys.readouterr().out
    assert "public.orders_tmp: not chosen" in shown and "public.totals: it is a view" in shown
    assert max(map(len, shown.splitlines())) <= 80


PATTERNS = """\
database: shop
tables:
  public.*: {types: [cow], delete: hard}
  sales.*:
  public.orders: {key: [id]}
"""


def test_patterns_of_a_definition_are_the_tables_that_they_met(tmp_path: Path) -> None:
    path = tmp_path / "shop.yaml"
    path.write_text(PATTERNS)
    with pytest.raises(BadInput, match=r"what public\.\*, sales\.\* means; .*; run: lake init shop --update"):
        load_database(path)
    met = {"public.orders": {"key": ["other"]}, "public.lines": {"key": ["n"]}, "sales.a": {"key": ["b"]}, "x.y": {}}
    (tmp_path / "shop.tables.json").write_text(json.dumps(met))
    tables = load_database(path).by_name
    assert {name: (one.key, one.types, one.delete) for name, one in tables.items()} == {
        "public.orders": (("id",), ("mor",), "soft"),  # an exact name wins
        "public.lines": (("n",), ("cow",), "hard"),
        "sales.a": (("b",), ("mor",), "soft"),
    }
