"""A policy that no role may exceed: it is on each role of each stack, or on none."""

from pathlib import Path
from typing import Any

import pytest

from tests.synth.rights import text
from tests.synth.synthesis import Synthesized, changed, described, synthesize

ARN = "arn:aws:iam::123456789012:policy/platform/Boundary"


def limited(folder: Path, base: str, policy: str) -> Synthesized:
    """A shipped environment with a boundary."""
    return synthesize(base, described(folder, changed(base, {"permissions_boundary": policy})))


def boundaries(lake: Synthesized) -> set[Any]:
    found = [role.get("PermissionsBoundary", "") for _, role in lake.resources("AWS::IAM::Role")]
    assert len(found) > 15
    return {text(one) for one in found}


@pytest.mark.parametrize("name", ["dev", "demo", "prod"])
def test_each_role_of_each_stack_has_the_boundary(name: str, tmp_path: Path) -> None:
    lake = limited(tmp_path, name, "platform/Boundary")
    assert boundaries(lake) == {"arn:<AWS::Partition>:iam::<AWS::AccountId>:policy/platform/Boundary"}
    assert lake.failure == ""


def test_a_boundary_may_be_named_by_its_arn(tmp_path: Path) -> None:
    assert boundaries(limited(tmp_path, "dev", ARN)) == {ARN}


def test_without_the_key_no_role_has_one(lake: Synthesized) -> None:
    assert boundaries(lake) == {""}
