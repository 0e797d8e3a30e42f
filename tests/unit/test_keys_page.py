"""docs/keys.md has every key, as the models read it."""

from tools import keys_page

PAGE = keys_page.PAGE.read_text(encoding="utf-8")


def test_the_page_is_current() -> None:
    assert keys_page.page() == PAGE, "run: make pages"


def test_a_comment_is_what_a_key_means() -> None:
    assert "| `source.ca_file` | string |  | authorities of the server's certificate, as PEM |" in PAGE


def test_what_no_person_writes_is_no_key() -> None:
    assert "full_name" not in PAGE and "`root`" not in PAGE
