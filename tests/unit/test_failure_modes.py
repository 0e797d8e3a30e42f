"""docs/failure-modes.md: every number, and every test that it names."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "failure-modes.md").read_text()
ROWS = re.findall(r"^\| F(\d+) \| .+ \| .+ \| (.+) \|$", PAGE, re.MULTILINE)
FOLDERS = ("lake", "spark_jobs", "tests", "docs", "connect_transforms", "helm")


def test_the_numbers_are_1_to_46() -> None:
    assert [int(number) for number, _ in ROWS] == list(range(1, 47))


def test_every_named_test_exists() -> None:
    code = "\n".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    there = set(re.findall(r"^def (test_\w+)\(", code, re.MULTILINE))
    named = {name for _, tests in ROWS for name in re.findall(r"`(test_\w+)`", tests)}
    assert named and named - there == set()


def test_every_row_names_a_test_or_says_why_not() -> None:
    assert [number for number, tests in ROWS if "`test_" not in tests and not tests.startswith("none: ")] == []


def test_every_number_in_the_tree_is_on_the_page() -> None:
    files = [path for folder in FOLDERS for kind in ("*.py", "*.java", "*.md") for path in (ROOT / folder).rglob(kind)]
    cited = {int(number) for path in files for number in re.findall(r"\(F(\d{1,2})[,) ]", path.read_text())}
    assert cited and max(cited) <= 46
