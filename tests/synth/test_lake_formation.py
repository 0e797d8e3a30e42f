"""Lake Formation by option: the bucket is registered, the databases are closed to all, and the named may read."""

import json
from typing import Any

import pytest

from tests.synth.rights import allowed, text
from tests.synth.synthesis import Synthesized, varied

GRANT = "AWS::LakeFormation::PrincipalPermissions"
DATABASES = {"moma_cow", "moma_mor", "moma_cow_streamer", "moma_mor_streamer", "moma_quarantine", "refined"}
READERS = ["Analysts", "teams/Data-Science"]


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Synthesized:
    changes = {"catalog": {"lake_formation": True, "readers": READERS}}
    return varied(tmp_path_factory.mktemp("guarded"), "dev", changes)


def grants(lake: Synthesized, principal: str) -> dict[str, set[str]]:
    """Permissions by what they are on: "location", a database, or the tables of one."""
    found = {}
    for _, one in lake.resources(GRANT):
        if principal in text(one["Principal"]["DataLakePrincipalIdentifier"]):
            found[place(one["Resource"])] = set(one["Permissions"])
            assert one["PermissionsWithGrantOption"] == []
    return found


def place(resource: dict[str, Any]) -> str:
    if "Table" in resource:
        assert resource["Table"]["TableWildcard"] == {}
        return f"{resource['Table']['DatabaseName']}.*"
    return str(resource["Database"]["Name"]) if "Database" in resource else "location"


def test_the_bucket_of_the_tables_is_registered_with_a_role_that_only_reads(guarded: Synthesized) -> None:
    location = guarded.only("AWS::LakeFormation::Resource")
    assert "Silver" in text(location["ResourceArn"]) and location["UseServiceLinkedRole"] is False
    rights = allowed(guarded.templates["catalog"], "LakeFormationRole", "s3")
    assert set(rights) == {"ListBucket", "GetObject"}
    assert {one.partition(">")[2] for one in rights["GetObject"]} == {"/silver/*", "/streamer/*", "/refined/*"}
    assert set(allowed(guarded.templates["catalog"], "LakeFormationRole", "kms")) == {"Decrypt"}


def test_no_database_is_left_to_the_policies_of_roles(guarded: Synthesized) -> None:
    calls = [json.loads(text(one["Create"])) for _, one in guarded.resources("Custom::AWS") if "Create" in one]
    closed = [one["parameters"] for one in calls if one["action"] == "revokePermissions"]
    assert {one["Resource"]["Database"]["Name"] for one in closed} == DATABASES
    principals = {one["Principal"]["DataLakePrincipalIdentifier"] for one in closed}
    assert principals == {"IAM_ALLOWED_PRINCIPALS"}
    inputs = [one["DatabaseInput"] for _, one in guarded.resources("AWS::Glue::Database")]
    assert {one["Name"] for one in inputs if one["CreateTableDefaultPermissions"] == []} == DATABASES


def test_a_database_is_closed_after_it_is_made_and_by_an_administrator(guarded: Synthesized) -> None:
    resources = guarded.templates["catalog"]["Resources"]
    (settings,) = [id for id, one in resources.items() if one["Type"] == "AWS::LakeFormation::DataLakeSettings"]
    made = {one["Properties"]["DatabaseInput"]["Name"]: id for id, one in resources.items() if "Glue" in one["Type"]}
    closing = [one for one in resources.values() if one["Type"] == "Custom::AWS"]
    assert len(closing) == len(DATABASES)
    for one in closing:
        name = json.loads(text(one["Properties"]["Create"]))["parameters"]["Resource"]["Database"]["Name"]
        assert {settings, made[name]} <= set(one["DependsOn"])


def test_the_deployment_becomes_an_administrator_beside_those_of_the_account(guarded: Synthesized) -> None:
    settings = guarded.only("AWS::LakeFormation::DataLakeSettings")
    assert settings["MutationType"] == "APPEND"
    deployer, handler = (text(one["DataLakePrincipalIdentifier"]) for one in settings["Admins"])
    assert "cfn-exec-role" in deployer and "ServiceRole" in handler


@pytest.mark.parametrize("reader", READERS)
def test_a_reader_may_read_each_table_and_change_none(guarded: Synthesized, reader: str) -> None:
    found = grants(guarded, f":role/{reader}")
    assert found == {
        **{name: {"DESCRIBE"} for name in DATABASES},
        **{f"{name}.*": {"SELECT", "DESCRIBE"} for name in DATABASES},
    }


def test_the_jobs_may_make_and_change_tables_and_replace_those_for_analysts(guarded: Synthesized) -> None:
    found = grants(guarded, "<Nodes")
    write = {"SELECT", "DESCRIBE", "INSERT", "DELETE", "ALTER"}
    assert found == {
        "location": {"DATA_LOCATION_ACCESS"},
        **{name: {"DESCRIBE", "CREATE_TABLE"} for name in DATABASES},
        **{f"{name}.*": write for name in DATABASES},
        "refined.*": {*write, "DROP"},
    }


def test_the_security_rules_find_nothing(guarded: Synthesized) -> None:
    assert guarded.failure == ""


def test_without_the_key_the_policies_of_roles_decide(lake: Synthesized) -> None:
    kinds = {one["Type"] for template in lake.templates.values() for one in template["Resources"].values()}
    assert not {one for one in kinds if one.startswith("AWS::LakeFormation")}
