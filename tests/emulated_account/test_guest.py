"""An existing network, an existing database and EMR 7.10: used, and left as they were."""

import pytest

from tests.emulated_account.guest import PASSWORD, Guest
from tests.emulated_account.inventory import of_kind
from tests.emulated_account.test_one import PARTS

pytestmark = [pytest.mark.account, pytest.mark.operations]


def test_it_is_deployed(guest: Guest) -> None:
    """Less the stack of the network: it has nothing to make, so the CDK leaves it out, and always finds it missing."""
    assert guest.stacks == {f"lake-guest-{part}": "CREATE_COMPLETE" for part in PARTS if part != "network"}
    assert guest.same.text.count("There were no differences") == len(PARTS) - 1, guest.same.text


def test_no_network_and_no_database_are_made(guest: Guest) -> None:
    kinds = {one.rpartition("/")[0] for one in guest.made}
    assert not kinds & {"ec2/vpc", "ec2/subnet", "ec2/nat", "rds/instance"}
    assert of_kind(guest.made, "eks/cluster") == ["lake-guest"]


def test_everything_stands_in_their_subnets(guest: Guest) -> None:
    subnets = guest.theirs.vpc["private_subnets"]
    assert sorted(guest.kubernetes["resourcesVpcConfig"]["subnetIds"]) == sorted(subnets)
    assert guest.emr["Ec2InstanceAttributes"]["Ec2SubnetId"] in subnets


def test_the_newer_release_runs_the_job(guest: Guest) -> None:
    assert guest.emr["ReleaseLabel"] == "emr-7.10.0"
    assert guest.steps == ["stream"]


def test_connectors_go_to_their_database_with_a_reference_for_a_password(guest: Guest) -> None:
    assert "db.example.com" in guest.connectors
    assert PASSWORD not in guest.connectors and "${secrets:database:password}" in guest.connectors


def test_their_database_is_opened_for_workers_and_jobs_and_closed_again(guest: Guest) -> None:
    assert sum(count for _, count in guest.opened) == 2 and {port for port, _ in guest.opened} == {5432}
    assert guest.closed == []


def test_what_is_theirs_is_left_as_it_was(guest: Guest) -> None:
    assert guest.after == guest.before


def test_what_stays_in_their_database_is_named(guest: Guest) -> None:
    assert [(item.where, item.name) for item in guest.left] == [
        ("the database db.example.com", "slot lake_moma"),
        ("the database db.example.com", "publication lake_moma"),
    ]
