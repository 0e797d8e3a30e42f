"""The AWS halves of docs/posts: the definitions of the posts are deployed, and each command does its work on them."""

from pathlib import Path

import pytest

from tests.emulated_account.account import Account
from tests.emulated_account.walked import Walked, on_aws, walk
from tests.runbooks import WALKS, pages

pytestmark = [pytest.mark.account, pytest.mark.slow]


@pytest.fixture(scope="module")
def walked(account: Account, tmp_path_factory: pytest.TempPathFactory) -> Walked:
    return walk(account, tmp_path_factory.mktemp("walked"))


@pytest.mark.parametrize("page", pages(WALKS), ids=lambda path: path.stem)
def test_each_command_of_the_page_succeeds(walked: Walked, page: Path) -> None:
    played = [one for one in walked.commands if one.page == page.stem]
    assert len(played) == len(on_aws(page)) > 0
    assert [(one.text, one.printed) for one in played if one.code != 0] == []


def test_the_steps_have_what_the_pages_say(walked: Walked) -> None:
    refined, streamed, verified = (walked.steps[name] for name in ("refine", "streamer-once", "verify"))
    assert "datalake.cdc_events" in refined[refined.index("--sql") + 1]
    assert "--table=tickit.sale" in streamed and "--table=tickit" in verified
    assert {"sales-seed", "sales-totals", "sales-incremental", "sales-results", "topics"} < set(walked.steps)


def test_the_tables_of_the_archives_go_with_the_lake(walked: Walked) -> None:
    assert walked.destroyed.code == 0, walked.destroyed.text
