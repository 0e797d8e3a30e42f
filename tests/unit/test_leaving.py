"""What leaves the definition is captured on until somebody confirms that it is taken out."""

from pathlib import Path

import pytest

from lake.config.definition import Database, load_databases
from lake.config.environment import PROJECT, Environment, load_environment
from lake.config.errors import BadInput
from lake.plan.leaving import captured, leaving
from lake.state import applied
from tests.unit.test_plan import shop

A, B = (
    {"key": ["id"]},
    {"key": ["id"], "history": "36h", "bronze": {"by": "day"}, "partition": ["kind"], "delete": "hard"},
)
OTHER = Database.model_validate({"database": "other", "tables": {"public.x": A}})


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Environment:
    monkeypatch.setenv("LAKE_DATA_DIR", str(tmp_path))
    return load_environment()


def test_the_definition_of_an_apply_is_read_again_as_it_was(home: Environment) -> None:
    every = [*load_databases(PROJECT), shop(a=A, b=B)]
    applied.save(home, every)
    assert list(applied.load(home).values()) == every


def test_before_the_first_apply_nothing_can_leave(home: Environment) -> None:
    assert applied.load(home) == {}
    assert leaving(home, [OTHER]).changes == []


def test_a_file_that_is_away_takes_nothing_out_by_itself(home: Environment) -> None:
    applied.save(home, [OTHER, shop(a=A)])
    left = leaving(home, [shop(a=A)])
    assert [(one.kind, one.object) for one in left.changes] == [("leave", "source_postgres_other")]
    assert left.joined([shop(a=A)]) == [OTHER, shop(a=A)]
    assert left.names == {("other", "public.x")}
    assert left.gone_from(applied.load(home).values()) == [shop(a=A)]


def test_a_table_that_is_no_more_in_its_file(home: Environment) -> None:
    applied.save(home, [shop(a=A, b=B)])
    left = leaving(home, [shop(a=A)])
    assert [(one.kind, one.object) for one in left.changes] == [("leave", "public.b")]
    assert left.joined([shop(a=A)]) == [shop(a=A, b=B)]
    assert left.gone_from(applied.load(home).values()) == [shop(a=A)]
    assert leaving(home, [shop(a=A, b=B)]).changes == []


def test_the_last_file_can_leave(tmp_path: Path) -> None:
    (tmp_path / "databases").mkdir()
    assert load_databases(tmp_path, may_be_none=True) == []
    with pytest.raises(BadInput, match="no database is defined"):
        load_databases(tmp_path)


def test_a_table_with_a_dot_in_its_name_is_known_to_be_captured() -> None:
    odd = Database.model_validate({"database": "shop", "tables": {'public."a.b"': A, "public.later": A}})
    entry = {"database": "shop", "schema": "public", "table": "a.b"}
    assert [list(one.by_name) for one in captured([odd], {"tables": [entry]})] == [['public."a.b"']]
