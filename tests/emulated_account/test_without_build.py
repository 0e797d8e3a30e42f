"""A lake that was synthesized without its jars is not deployed by accident."""

from pathlib import Path

import pytest

from tests.emulated_account.account import Account
from tests.emulated_account.command import ROOT, Cdk
from tests.emulated_account.inventory import inventory
from tests.emulated_account.story import HOME, One
from tests.synth.synthesis import synthesize

pytestmark = pytest.mark.account


def test_the_first_stack_is_refused_and_nothing_is_made(account: Account, one: One, tmp_path: Path) -> None:
    """one: its story prepared the account for the CDK, and left it empty."""
    for path in ROOT.iterdir():
        if path.name != "build":
            (tmp_path / path.name).symlink_to(path)
    before = inventory(account, HOME)
    done = Cdk(account, HOME).deploy(synthesize("dev", tmp_path, tmp_path).folder)
    assert done.code == 1
    assert "no such jar to deploy" in done.text and "run: make setup" in done.text
    assert inventory(account, HOME) - before == set()
