"""Which messages end a row of a multiset that is not there."""

import pytest

from spark_jobs.events.multiset import Change, unmatched


def changes(story: str) -> list[Change]:
    """ "+a -a a>b": each message with what it ends and adds, in their order."""
    found = []
    for order, one in enumerate(story.split()):
        ended, added = one.split(">") if ">" in one else ("", one[1:]) if one[0] == "+" else (one[1:], "")
        found.append(Change(order, ended or None, added or None))
    return found


@pytest.mark.parametrize(
    ("story", "live", "missing"),
    [
        ("+a -a -a", {}, [2]),
        ("-a +a", {}, [0]),
        ("-a -a", {"a": 1}, [1]),
        ("a>a a>b -b", {"a": 1}, []),
        ("a>b b>c -c +c -c", {}, [0, 1, 2]),  # what was not applied added no row
        ("a>b b>c", {"b": 1}, [0]),
        ("-a", {"b": 1}, [0]),
    ],
)
def test_a_row_is_missing(story: str, live: dict[str, int], missing: list[int]) -> None:
    assert unmatched(changes(story), live) == missing


def test_the_order_of_the_log_counts() -> None:
    assert unmatched(list(reversed(changes("+a -a"))), {}) == []
