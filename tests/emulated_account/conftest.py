"""The account, the stories played in it, and the rule that nothing may be unknown."""

from collections.abc import Iterator

import pytest

from tests.charts.rendering import HELM
from tests.emulated_account.account import Account, Door, running
from tests.emulated_account.airy import Airy, be_airy
from tests.emulated_account.command import CDK, ROOT
from tests.emulated_account.ended import Ended, end
from tests.emulated_account.guest import Guest, be_guest
from tests.emulated_account.managed import Managed, be_managed
from tests.emulated_account.operated import Operated, operate
from tests.emulated_account.small_stacks import SmallStacks
from tests.emulated_account.story import One, Two, play_one, play_two
from tests.emulated_account.users import Users, be_users

for needed in (CDK, HELM):
    if not needed.exists():
        raise pytest.UsageError(f"no {needed.relative_to(ROOT)}: run `make setup`")


@pytest.fixture(scope="session")
def door() -> Iterator[Door]:
    with running() as opened:
        yield opened


@pytest.fixture(scope="session")
def account(door: Door) -> Account:
    return door.account


@pytest.fixture
def stacks(account: Account) -> SmallStacks:
    return SmallStacks(account)


@pytest.fixture(scope="session")
def one(door: Door, tmp_path_factory: pytest.TempPathFactory) -> One:
    return play_one(door, tmp_path_factory.mktemp("one"))


@pytest.fixture(scope="session")
def operated(door: Door, tmp_path_factory: pytest.TempPathFactory) -> Operated:
    return operate(door, tmp_path_factory.mktemp("operated"))


@pytest.fixture(scope="session")
def ended(account: Account) -> Ended:
    return end(account)


@pytest.fixture(scope="session")
def guest(account: Account, tmp_path_factory: pytest.TempPathFactory) -> Guest:
    return be_guest(account, tmp_path_factory.mktemp("guest"))


@pytest.fixture(scope="session")
def airy(account: Account, tmp_path_factory: pytest.TempPathFactory) -> Airy:
    return be_airy(account, tmp_path_factory.mktemp("airy"))


@pytest.fixture(scope="session")
def managed(account: Account, tmp_path_factory: pytest.TempPathFactory) -> Managed:
    return be_managed(account, tmp_path_factory.mktemp("managed"))


@pytest.fixture(scope="session")
def two(account: Account, tmp_path_factory: pytest.TempPathFactory) -> Two:
    return play_two(account, tmp_path_factory.mktemp("two"))


@pytest.fixture(scope="session")
def users(account: Account, tmp_path_factory: pytest.TempPathFactory) -> Users:
    return be_users(account, tmp_path_factory.mktemp("users"))


@pytest.fixture(autouse=True)
def nothing_unknown(account: Account) -> Iterator[None]:
    """A test that meets something unknown on purpose takes it out of the journal."""
    yield
    assert account.journal.take() == []
