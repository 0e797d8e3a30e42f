"""The operations of a lake on AWS: down to nothing, whatever interrupts it, and back."""

import pytest

from lake.deployments.teardown import described
from tests.emulated_account.operated import KILLS, LATE, Operated
from tests.emulated_account.test_one import PARTS

pytestmark = [pytest.mark.account, pytest.mark.operations]


def test_the_plan_names_every_stack_and_what_is_lost(operated: Operated) -> None:
    stacks = {item.name for item, goes in operated.planned if goes and item.kind == "stack"}
    assert stacks == {f"lake-dev-{part}" for part in PARTS}
    text = "\n".join(described(operated.planned))
    assert text.count("LOST: its objects") == 4
    assert "LOST: the source databases with all their rows" in text and "LOST: all topics" in text
    assert "keeps" not in text


def test_a_teardown_that_nobody_disturbs_leaves_nothing(operated: Operated) -> None:
    found = operated.undisturbed
    assert (found.error, found.killed, found.left, found.unknown) == ("", False, [], [])


def test_a_teardown_killed_anywhere_and_run_again_leaves_nothing(operated: Operated) -> None:
    assert [one.killed for one in operated.kills] == [True] * KILLS
    assert {(one.requests, one.error, *one.left, *one.unknown) for one in operated.kills} == {
        (one.requests, "") for one in operated.kills
    }


def test_a_teardown_that_is_not_confirmed_changes_nothing(operated: Operated) -> None:
    assert "it was not confirmed" in operated.unconfirmed and "--yes" in operated.unconfirmed


def test_production_is_refused(operated: Operated) -> None:
    assert "prod is protected" in operated.protected


def test_a_teardown_proves_that_nothing_is_left(operated: Operated) -> None:
    assert operated.left == []
    assert operated.after - operated.empty == set()


def test_a_rebuild_ends_with_the_proof(operated: Operated) -> None:
    assert operated.rebuilt["equal"] is True
    assert operated.rebuilt["result"].startswith("s3://lake-dev-storage-artifacts")
    assert operated.stacks == dict.fromkeys(PARTS, "CREATE_COMPLETE")


def test_kept_data_are_named_with_the_key_that_opens_them(operated: Operated) -> None:
    assert {item.where for item in operated.kept} == {"lake-dev-storage"}
    kinds = [item.kind for item in operated.kept]
    assert kinds.count("AWS::S3::Bucket") == 4 and "AWS::KMS::Key" in kinds


def test_log_groups_that_aws_made_again_are_found_by_name_and_deleted(operated: Operated) -> None:
    # moto remembers the tags of a group that was deleted, and so names it by its ARN.
    found = [item.name.partition(":log-group:")[2] or item.name for item, goes in operated.late if goes]
    assert sorted(found) == sorted(LATE)
    assert operated.late_left - operated.empty == set()


def test_a_deployment_meets_log_groups_that_aws_made_again(operated: Operated) -> None:
    assert "already exists" not in operated.met_late and operated.met_late.count("✅") >= len(PARTS)


def test_the_end_is_as_the_beginning(operated: Operated) -> None:
    assert operated.finally_left - operated.empty == set()
