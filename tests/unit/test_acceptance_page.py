"""The page of the acceptance cases: which tests it takes, and that it lists all that are there."""

import ast
import re

import pytest

from lake.config.environment import PROJECT
from tests.acceptance.cases import CASES, LATER, Result, numbers, page

TESTS = PROJECT / "tests" / "acceptance"
PAGE = (PROJECT / "docs" / "acceptance.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("test_a1_envelope", [1]),
        ("test_a9_a10_only_merge_on_read_has_logs", [9, 10]),
        ("test_a22_to_a25", [22, 23, 24, 25]),
        ("test_a_base_file_is_as_large_as_its_rows", []),
        ("test_the_lake_equals_its_source", []),
    ],
)
def test_the_cases_of_a_test(name: str, found: list[int]) -> None:
    assert numbers(name) == found


def test_one_row_a_case() -> None:
    name = "tests/acceptance/test_arrival.py::test_a1_envelope"
    made = page([Result(name, True, "newer"), Result(name, False, "")])
    assert (
        f"| A1 | {CASES[1]} | [test_a1_envelope](../tests/acceptance/test_arrival.py) | 1 of 2 failed | newer |" in made
    )
    assert f"| A33 | {CASES[33]} |  | needs {LATER[33]} |  |" in made
    assert f"| A2 | {CASES[2]} |  | no test ran |  |" in made


def test_the_page_lists_every_test_of_a_case() -> None:
    functions = {
        node.name
        for path in TESTS.glob("test_*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and numbers(node.name)
    }
    assert set(re.findall(r"\[(test_\w+)\]", PAGE)) == functions
    assert "failed" not in PAGE
    assert "no test ran" not in PAGE
