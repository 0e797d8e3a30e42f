"""The estimate counts what the templates hold, and the guide says what the estimate says."""

import re
from typing import Any

from lake.aws.cost import Item, estimate, load_prices
from lake.aws.environment import load_aws_environment
from lake.cli.cost import total
from tests.synth.synthesis import ENVIRONMENTS, ROOT, Synthesized


def lines(name: str) -> list[Item]:
    return estimate(load_aws_environment(ROOT, name), load_prices())


def counted(name: str) -> dict[str, float]:
    return {item.what: item.count for item in lines(name)}


def test_it_counts_what_is_deployed(lake: Synthesized) -> None:
    found = counted(lake.name)
    assert found["NAT gateway"] == len(lake.resources("AWS::EC2::NatGateway"))
    assert found.get("interface endpoint in a zone", 0) == interfaces(lake)
    assert {name: found[name] for name in ("KMS key", "secret", "metric with an alarm", "dashboard")} == {
        "KMS key": len(lake.resources("AWS::KMS::Key")),
        "secret": len(lake.resources("AWS::SecretsManager::Secret")),
        "metric with an alarm": sum(len(read(alarm)) for _, alarm in lake.resources("AWS::CloudWatch::Alarm")),
        "dashboard": len(lake.resources("AWS::CloudWatch::Dashboard")),
    }


def read(alarm: dict[str, Any]) -> list[Any]:
    """The metrics that an alarm reads."""
    return [one for one in alarm["Metrics"] if "MetricStat" in one] if "Metrics" in alarm else [alarm["MetricName"]]


def test_metrics_of_the_brokers_are_free(dev: Synthesized, prod: Synthesized) -> None:
    levels = {lake.only("AWS::MSK::Cluster")["EnhancedMonitoring"] for lake in (dev, prod)}
    assert levels == {"DEFAULT"}


def interfaces(lake: Synthesized) -> int:
    endpoints = [properties for _, properties in lake.resources("AWS::EC2::VPCEndpoint")]
    return sum(len(one["SubnetIds"]) for one in endpoints if one.get("VpcEndpointType") == "Interface")


def test_it_counts_the_machines(lake: Synthesized) -> None:
    found = counted(lake.name)
    database = lake.only("AWS::RDS::DBInstance")
    zones = 2 if database["MultiAZ"] else 1
    assert found[f"RDS {database['DBInstanceClass']}"] == zones
    assert found["GB of its disk"] == zones * int(database["AllocatedStorage"])
    for brokers in [properties for _, properties in lake.resources("AWS::MSK::Cluster")]:
        nodes = brokers["BrokerNodeGroupInfo"]
        assert found[f"MSK {nodes['InstanceType']}"] == brokers["NumberOfBrokerNodes"]
    for group in emr_security_groups(lake):
        (name,) = [what for what in found if what.startswith("EMR") and what.endswith(group["InstanceType"])]
        assert found[name] == group["InstanceCount"]
    assert found["GB of their disks"] == sum(gigabytes(group) for group in emr_security_groups(lake))


def gigabytes(group: dict[str, Any]) -> int:
    """The disks of all machines of a group."""
    disks = group["EbsConfiguration"]["EbsBlockDeviceConfigs"]
    per_machine = sum(disk["VolumeSpecification"]["SizeInGB"] * disk.get("VolumesPerInstance", 1) for disk in disks)
    return int(group["InstanceCount"]) * per_machine


def emr_security_groups(lake: Synthesized) -> list[dict[str, Any]]:
    instances = lake.only("AWS::EMR::Cluster")["Instances"]
    return [instances["MasterInstanceGroup"], instances["CoreInstanceGroup"]]


def test_the_guide_says_the_same() -> None:
    guide = (ROOT / "docs/deploy.md").read_text(encoding="utf-8")
    (row,) = [line for line in guide.splitlines() if line.startswith("| **US dollars a month**")]
    (hours,) = [line for line in guide.splitlines() if line.startswith("| US dollars an hour")]
    sums = [total(lines(name)) for name in ENVIRONMENTS]
    assert re.findall(r"[\d.]+", row) == [f"{one:.0f}" for one in sums]
    assert re.findall(r"[\d.]+", hours) == [f"{one / 730:.2f}" for one in sums]
    assert load_prices().date in guide and load_prices().region in guide
