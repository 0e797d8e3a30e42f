"""streaming.auth: scram, deployed: the cluster reads the secrets, the chart gets both addresses, nothing is left."""

import pytest

from tests.emulated_account.test_one import PARTS
from tests.emulated_account.users import Users

pytestmark = [pytest.mark.account, pytest.mark.operations]


def test_it_is_deployed(users: Users) -> None:
    assert users.stacks == {f"lake-users-{part}": "CREATE_COMPLETE" for part in PARTS}
    assert users.same.code == 0, users.same.text


def test_the_cluster_reads_the_secret_of_each_user(users: Users) -> None:
    assert users.secrets == ["AmazonMSK_lake-users-connect", "AmazonMSK_lake-users-jobs"]


def test_workers_reach_one_listener_and_their_rights_are_given_at_the_other(users: Users) -> None:
    assert users.values["bootstrapServers"].endswith(":9096")
    assert users.values["rights"]["bootstrapServers"].endswith(":9098")
    assert "AmazonMSK_lake-users-connect" in users.values["security"]["scramSecret"]


def test_a_teardown_leaves_nothing_and_the_names_are_free_again(users: Users) -> None:
    assert users.left == []
    assert {one for one in users.remains if not one.startswith("logs/")} == set()
    assert users.again.code == 0, users.again.text
