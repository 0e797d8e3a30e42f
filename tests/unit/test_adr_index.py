"""docs/adr/README.md lists every decision with its title and status."""

import re
from pathlib import Path

import pytest

ADR = Path(__file__).resolve().parents[2] / "docs" / "adr"
PAGES = sorted(ADR.glob("[0-9]*.md"))
LISTED = {
    name: (int(number), title, status)
    for number, title, name, status in re.findall(
        r"^\| (\d+) \| \[(.+)\]\((.+)\) \| (.+) \|$", (ADR / "README.md").read_text(), re.MULTILINE
    )
}
STATUS = re.compile(r"(proposed|accepted|rejected|superseded)\b(?: by \[(\d+)\])?")


def test_the_index_lists_the_pages_in_their_order() -> None:
    assert list(LISTED) == [page.name for page in PAGES]


def test_numbers_follow_one_another() -> None:
    assert len({page.name[:4] for page in PAGES}) == len(PAGES)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name[:4])
def test_title_and_status_are_those_of_the_page(page: Path) -> None:
    title, rest = page.read_text().split("\n\nStatus: ", 1)
    number, listed, status = LISTED[page.name]
    assert title == f"# {number}. {listed}"
    assert int(page.name[:4]) == number
    found = STATUS.match(rest)
    assert found, f"{page.name}: no status"
    assert status == (f"{found[1]} by {found[2]}" if found[2] else found[1])
