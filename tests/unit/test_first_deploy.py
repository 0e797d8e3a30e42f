"""What is known from documentation only is settled by a step of the first deployment."""

import re
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"
STEP = re.compile(r"\(first-deploy\.md#([\w-]+)\)")


def only_read(page: str) -> list[str]:
    """The rows of the table, as text, of which a part is only read."""
    rows = [row for row in page.splitlines() if row.startswith("| ")]
    return [row for row in rows if re.search(r"\bread\b", row.split(" | ")[1])]


def test_each_row_that_is_only_read_names_its_step() -> None:
    rows = only_read((DOCS / "verified.md").read_text(encoding="utf-8"))
    assert len(rows) > 10
    assert [row for row in rows if not STEP.search(row)] == []


def test_each_step_settles_something_and_says_what_to_expect() -> None:
    steps = (DOCS / "first-deploy.md").read_text(encoding="utf-8").split("\n## ")[1:]
    for step in steps:
        assert "```" in step or "Cost Explorer" in step or "deploy" in step, step[:40]
        assert "Expected:" in step and "Settles:" in step, step[:40]
