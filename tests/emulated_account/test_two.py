"""Two environments beside each other: one with MSK Serverless, thrown away, and one whose data are kept."""

import pytest

from tests.emulated_account.inventory import late, of_kind
from tests.emulated_account.story import AWAY, HOME, Two
from tests.emulated_account.test_one import PARTS

pytestmark = pytest.mark.account


def test_both_are_made(two: Two) -> None:
    assert [done.code for done in two.deployed] == [0, 0], two.deployed[0].text + two.deployed[1].text
    assert two.demo.stacks == {f"lake-demo-{part}": "CREATE_COMPLETE" for part in PARTS}
    assert two.prod.stacks == {f"lake-prod-{part}": "CREATE_COMPLETE" for part in PARTS}


def test_each_has_its_own_brokers(two: Two) -> None:
    assert two.demo.kafka["ClusterType"] == "SERVERLESS"
    assert two.demo.brokers.endswith(f".kafka-serverless.{HOME}.amazonaws.com:9098")
    assert two.prod.kafka["Provisioned"]["NumberOfBrokerNodes"] == 3
    assert two.prod.brokers.count(f".kafka.{AWAY}.amazonaws.com:9098") == 3


def test_each_release_is_told_its_own_addresses(two: Two) -> None:
    for sight in (two.demo, two.prod):
        values = sight.releases["kafka-connect"].values
        assert values["bootstrapServers"] == sight.brokers
        assert sight.database["Endpoint"]["Address"] in str(values["connectors"])


def test_production_runs_a_job_per_layer(two: Two) -> None:
    assert sorted(step["Name"] for step in two.prod.steps) == ["bronze", "silver"]
    assert two.prod.database["MultiAZ"] and two.prod.database["DeletionProtection"]
    assert two.demo.emr["AutoTerminate"] is False


def test_neither_differs_from_what_was_deployed(two: Two) -> None:
    assert [done.code for done in two.same] == [0, 0], two.same[0].text + two.same[1].text


def test_the_end_of_one_does_not_touch_the_other(two: Two) -> None:
    assert two.demo_destroyed.code == 0, two.demo_destroyed.text
    left = two.demo_left - two.empty - late("demo")
    assert left == set(of_prod(left))
    assert two.prod_after == two.prod.stacks


def of_prod(found: set[str]) -> list[str]:
    """Roles, users of IAM and buckets are the same from every region."""
    return [one for one in found if one.startswith(("iam/", "s3/", "budgets/")) and "prod" in one]


def test_a_protected_environment_loses_nothing(two: Two) -> None:
    """`cdk destroy --all` ends at the first stack, and that is refused as a whole."""
    assert two.kept.code == 1
    assert "cannot be deleted while TerminationProtection is enabled" in two.kept.text
    kept = two.kept
    assert (kept.removed, kept.replaced, kept.updated, kept.added) == ([], [], [], [])
    assert two.kept_stacks == two.prod.stacks
    assert two.lost == set()


def test_each_protected_stack_refuses_by_itself(two: Two) -> None:
    assert two.refusing == set(two.prod.stacks)


def test_a_protected_database_stops_its_destruction(two: Two) -> None:
    """Until a person takes the protection off: docs/deploy.md."""
    assert two.protected.code == 1
    assert "Cannot delete protected DB Instance" in two.protected.text
    assert two.protected_stacks["lake-prod-source"] == "DELETE_FAILED"


def test_kept_data_outlive_the_stacks(two: Two) -> None:
    assert two.prod_destroyed.code == 0, two.prod_destroyed.text
    left = two.prod_left - two.empty - late("prod")
    assert {one.rpartition("/")[0] for one in left} == {"kms/key", "rds/snapshot", "s3/bucket", "secretsmanager/secret"}
    assert set(of_kind(left, "s3/bucket")) == set(two.prod.buckets.values())
    automatic, final = sorted(of_kind(left, "rds/snapshot"), key=lambda name: not name.startswith("rds:"))
    assert automatic.startswith("rds:lake-prod-") and final.startswith("lake-prod-source-snapshot-")


def test_what_was_kept_is_not_in_the_way_of_a_new_one(two: Two) -> None:
    assert two.rebuilt.code == 0, two.rebuilt.text
