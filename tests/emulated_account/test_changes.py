"""What each change of a lake replaces, updates, adds and removes; all else is left alone."""

import pytest

from tests.emulated_account.story import One

pytestmark = pytest.mark.account

# change -> what must be replaced. Nothing that holds data or that takes minutes is among it.
REPLACED = {
    "a second database": ["processing AWS::EMR::Step"],
    "two hundred tables": ["processing AWS::EMR::Step"],
    "a second job": ["processing AWS::EMR::Step"],
    "a newer Kafka": [],
    "an edited reporter": [],
}
NAMES = list(REPLACED)


@pytest.mark.parametrize("name", NAMES)
def test_the_change_is_deployed(one: One, name: str) -> None:
    assert one.moved[name].code == 0, one.moved[name].text


@pytest.mark.parametrize("name", NAMES)
def test_nothing_but_this_is_replaced(one: One, name: str) -> None:
    assert one.moved[name].replaced == REPLACED[name]


def test_change_sets_announce_what_is_replaced(one: One) -> None:
    """`cdk deploy --method=prepare-change-set` leaves them for a person to look at."""
    assert one.announced.replaced == REPLACED["a second job"]


def test_a_look_says_what_is_replaced(one: One) -> None:
    found = [line for line in one.announced.text.splitlines() if "[~] AWS::EMR" in line]
    assert [("replace" in line, "AWS::EMR::Step" in line) for line in found] == [(True, True)]
