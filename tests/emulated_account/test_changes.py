"""What a deployment, each change of a lake, its teardown and its rebuild replace; all else is left alone."""

from collections import Counter

import pytest

from tests.emulated_account.changed import SPLIT
from tests.emulated_account.story import One

pytestmark = pytest.mark.account

STEP, BROKERS = "processing AWS::EMR::Step", "streaming AWS::MSK::Cluster"
# What a person does -> what must be replaced, and what else must happen, so that a row is no change of nothing.
# Nothing that holds data or that takes minutes is replaced.
ROWS = {
    "deploy": ([], "added", BROKERS),
    "a second database": ([STEP], "added", "catalog AWS::Glue::Database"),
    "two hundred tables": ([STEP], "updated", "connect AWS::IAM::Policy"),
    "a job more": ([], "added", STEP),
    SPLIT: ([STEP], "added", STEP),
    "a newer Kafka": ([], "updated", BROKERS),
    "an edited reporter": ([], "updated", "processing AWS::SSM::Parameter"),
    "teardown": ([], "removed", BROKERS),
    "rebuild": ([], "added", BROKERS),
}


@pytest.mark.parametrize("name", ROWS)
def test_nothing_but_this_is_replaced(one: One, name: str) -> None:
    """The change sets say so before, and the events after."""
    moved, (replaced, word, witness) = one.moved[name], ROWS[name]
    assert moved.code == 0, moved.text
    assert (moved.announced, moved.replaced) == (replaced, replaced)
    assert witness in getattr(moved, word)


def test_every_change_is_a_row(one: One) -> None:
    assert one.moved.keys() == ROWS.keys()


def test_only_a_teardown_removes(one: One) -> None:
    assert [name for name, moved in one.moved.items() if moved.removed] == ["teardown"]


def test_a_rebuild_makes_what_the_teardown_removed(one: One) -> None:
    assert Counter(one.moved["rebuild"].added) == Counter(one.moved["teardown"].removed)


def test_change_sets_announce_what_is_replaced(one: One) -> None:
    """`cdk deploy --method=prepare-change-set` leaves them for a person to look at."""
    assert one.announced.replaced == one.moved[SPLIT].replaced


def test_a_look_says_what_is_replaced(one: One) -> None:
    found = [line for line in one.announced.text.splitlines() if "[~] AWS::EMR" in line]
    assert [("replace" in line, "AWS::EMR::Step" in line) for line in found] == [(True, True)]
