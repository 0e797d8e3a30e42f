"""What a change replaces, what a name forbids to replace, and what a change set says of it before."""

import pytest
from botocore.exceptions import ClientError

from tests.emulated_account.account import Account
from tests.emulated_account.small_stacks import REGION, Resource, SmallStacks, parameter, resource

pytestmark = pytest.mark.account


def encryption(text: str, **name: str) -> Resource:
    """All of a security configuration is fixed with its creation."""
    return resource("AWS::EMR::SecurityConfiguration", SecurityConfiguration={"Text": text}, **name)


def configuration(version: str) -> Resource:
    lines = {"Name": "fixed", "ServerProperties": "auto.create.topics.enable=false"}
    return resource("AWS::MSK::Configuration", KafkaVersionsList=[version], **lines)


def database(**more: str) -> Resource:
    login = {"MasterUsername": "admin1", "MasterUserPassword": "of-a-test-only"}
    size = {"Engine": "postgres", "DBInstanceClass": "db.t4g.small", "AllocatedStorage": "20"}
    return resource("AWS::RDS::DBInstance", **login, **size, **more)


def test_what_has_no_name_is_replaced_and_the_old_one_goes(account: Account, stacks: SmallStacks) -> None:
    stacks.deploy("unnamed", Encryption=encryption("old"))
    old = stacks.ids("unnamed")["Encryption"]
    assert stacks.deploy("unnamed", "UPDATE", Encryption=encryption("new")) == "UPDATE_COMPLETE"
    new = stacks.ids("unnamed")["Encryption"]
    found = account.client("emr", REGION).list_security_configurations()["SecurityConfigurations"]
    assert new != old and [one["Name"] for one in found] == [new]
    stacks.delete("unnamed")


def test_what_has_a_name_cannot_be_replaced(account: Account, stacks: SmallStacks) -> None:
    stacks.deploy("named", Encryption=encryption("old", Name="fixed"))
    status = stacks.deploy("named", "UPDATE", Encryption=encryption("new", Name="fixed"))
    assert status == "UPDATE_ROLLBACK_COMPLETE"
    assert stacks.reason("named") == (
        "CloudFormation cannot update a stack when a custom-named resource requires replacing. "
        "Rename fixed and update the stack again."
    )
    found = account.client("emr", REGION).describe_security_configuration(Name="fixed")
    assert "old" in found["SecurityConfiguration"]
    renamed = stacks.deploy("named", "UPDATE", Encryption=encryption("new", Name="other"))
    assert renamed == "UPDATE_COMPLETE" and stacks.ids("named") == {"Encryption": "other"}
    stacks.delete("named")


def test_a_name_that_is_no_identifier_is_refused_by_its_service(stacks: SmallStacks) -> None:
    stacks.deploy("conflict", Configuration=configuration("3.8.x"))
    status = stacks.deploy("conflict", "UPDATE", Configuration=configuration("3.9.x"))
    assert status == "UPDATE_ROLLBACK_COMPLETE"
    assert "A resource with this name already exists" in stacks.reason("conflict")
    stacks.delete("conflict")


def test_another_first_database_of_a_named_instance_is_refused(account: Account, stacks: SmallStacks) -> None:
    stacks.deploy("source", Source=database(DBName="moma", DBInstanceIdentifier="shop"))
    change = database(DBName="billing", DBInstanceIdentifier="shop")
    assert stacks.deploy("source", "UPDATE", Source=change) == "UPDATE_ROLLBACK_COMPLETE"
    assert "Rename shop and update the stack again" in stacks.reason("source")
    (found,) = account.client("rds", REGION).describe_db_instances()["DBInstances"]
    assert found["DBName"] == "moma"
    stacks.delete("source")


def test_a_replaced_resource_is_kept_if_its_policy_says_so(account: Account, stacks: SmallStacks) -> None:
    kept = {"UpdateReplacePolicy": "Retain"}
    stacks.deploy("kept", Encryption={**encryption("old"), **kept})
    old = stacks.ids("kept")["Encryption"]
    stacks.deploy("kept", "UPDATE", Encryption={**encryption("new"), **kept})
    stacks.delete("kept")
    emr = account.client("emr", REGION)
    assert [one["Name"] for one in emr.list_security_configurations()["SecurityConfigurations"]] == [old]
    emr.delete_security_configuration(Name=old)


def test_a_change_set_says_what_is_replaced_and_what_follows(stacks: SmallStacks) -> None:
    named = {"First": parameter("x", "/shown/old"), "Second": parameter({"Ref": "First"})}
    stacks.deploy("shown", **named)
    found = stacks.changes("shown", **{**named, "First": parameter("x", "/shown/new")})
    first, second = found["First"], found["Second"]
    assert (first["Replacement"], first["PolicyAction"]) == ("True", "ReplaceAndDelete")
    assert first["Details"][0]["Target"]["RequiresRecreation"] == "Always"
    assert second["Replacement"] == "False"
    (detail,) = second["Details"]
    assert (detail["Evaluation"], detail["ChangeSource"], detail["CausingEntity"]) == (
        *("Dynamic", "ResourceReference"),
        "First",
    )
    stacks.delete("shown")


def test_a_change_set_says_what_may_be_replaced(stacks: SmallStacks) -> None:
    """What is fixed with a resource, and named after another one that is replaced."""
    plain = {"Name": parameter("x", "/maybe/old"), "Follower": parameter("x", {"Ref": "Name"})}  # type: ignore[arg-type]
    stacks.deploy("maybe", **plain)
    found = stacks.changes("maybe", **{**plain, "Name": parameter("x", "/maybe/new")})
    assert found["Follower"]["Replacement"] == "Conditional"
    stacks.delete("maybe")


def test_kafka_takes_one_change_of_a_cluster_at_a_time(account: Account, stacks: SmallStacks) -> None:
    subnets = account.client("ec2", REGION).describe_subnets()["Subnets"][:2]
    place = {"InstanceType": "kafka.t3.small", "ClientSubnets": [one["SubnetId"] for one in subnets]}

    def cluster(version: str, revision: int) -> dict[str, Resource]:
        used = {"Arn": {"Ref": "Configuration"}, "Revision": revision}
        lines = "\n".join(["auto.create.topics.enable=false"] * revision)
        shared = {"ClusterName": "one", "NumberOfBrokerNodes": 2, "BrokerNodeGroupInfo": place}
        kafka = resource("AWS::MSK::Cluster", KafkaVersion=version, ConfigurationInfo=used, **shared)
        plain = resource("AWS::MSK::Configuration", Name="any", ServerProperties=lines)
        return {"Configuration": plain, "Kafka": kafka}

    stacks.deploy("kafka", **cluster("3.8.x", 1))
    assert stacks.deploy("kafka", "UPDATE", **cluster("3.9.x", 2)) == "UPDATE_ROLLBACK_COMPLETE"
    assert "You can't update multiple attributes of the cluster in same request" in stacks.reason("kafka")
    assert stacks.deploy("kafka", "UPDATE", **cluster("3.9.x", 1)) == "UPDATE_COMPLETE"
    stacks.delete("kafka")


def test_a_protected_stack_is_not_deleted(stacks: SmallStacks) -> None:
    stacks.deploy("protected", First=parameter("x"))
    stacks.client.update_termination_protection(StackName="protected", EnableTerminationProtection=True)
    with pytest.raises(ClientError, match="cannot be deleted while TerminationProtection is enabled"):
        stacks.delete("protected")
    assert stacks.status("protected") == "CREATE_COMPLETE"
    stacks.client.update_termination_protection(StackName="protected", EnableTerminationProtection=False)
    stacks.delete("protected")
