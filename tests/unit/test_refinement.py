"""The files of `lake refine`."""

from pathlib import Path

import pytest

from lake.config.environment import PROJECT
from lake.config.errors import BadInput
from lake.config.refinement import read_refinement


def test_a_table_by_a_column() -> None:
    wanted = read_refinement(PROJECT / "data" / "pagila" / "films_by_rating.yaml", [])
    expected = ["--name", "films_by_rating", "--table", "pagila.public.film", "--partition", "rating"]
    assert wanted.arguments() == expected


def test_a_query_has_the_name_of_its_file(tmp_path: Path) -> None:
    (tmp_path / "totals.sql").write_text("SELECT 1 AS one")
    wanted = read_refinement(tmp_path / "totals.sql", ["one"])
    assert wanted.arguments() == ["--name", "totals", "--sql", "SELECT 1 AS one", "--partition", "one"]


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("a.yaml", "name: a\n", "one of the keys table and sql"),
        ("a.yaml", "name: a\ntable: x.y.z\nsql: SELECT 1\n", "one of the keys table and sql"),
        ("a.yaml", "name: A-b\ntable: x.y.z\n", "not a plain name"),
        ("a.yaml", "name: a\ntabel: x.y.z\n", "did you mean 'table'"),
        ("a.sql", " \n", "the text is empty"),
        ("a.txt", "", "neither"),
        ("a.sql", None, "can't be read"),
    ],
)
def test_refused(tmp_path: Path, name: str, text: str | None, says: str) -> None:
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(BadInput, match=says):
        read_refinement(tmp_path / name, [])
