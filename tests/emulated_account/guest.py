"""A lake in a network and on a database that others own, on the newer EMR release; played once."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from lake.aws.environment import load_aws_environment
from lake.config.definition import load_databases
from lake.deployments.aws import AwsDeployment
from lake.deployments.deployment import Resource
from lake.deployments.teardown import teardown
from tests.emulated_account.account import Account
from tests.emulated_account.command import ROOT, Cdk, Done
from tests.emulated_account.inventory import inventory
from tests.emulated_account.operator import as_operator, quiet, yes
from tests.emulated_account.story import AWAY, statuses, succeeded
from tests.synth.synthesis import Synthesized, synthesize

NAME = "guest"
PASSWORD = "of-the-owner"


@dataclass(frozen=True)
class Theirs:
    """What others own: by their ids, and as the environment file names it."""

    vpc: dict[str, Any]
    database: dict[str, str]
    group: str


@dataclass(frozen=True)
class Guest:
    """What was seen."""

    theirs: Theirs
    before: set[str]
    deployed: Done
    stacks: dict[str, str]
    made: set[str]
    kubernetes: dict[str, Any]
    emr: dict[str, Any]
    steps: list[str]
    connectors: str
    opened: list[tuple[int, int]]
    same: Done
    left: list[Resource]
    after: set[str]
    closed: list[tuple[int, int]]


def be_guest(account: Account, folder: Path) -> Guest:
    cdk, theirs = Cdk(account, AWAY), build_theirs(account)
    succeeded(cdk.bootstrap())
    before = inventory(account, AWAY)
    lake = described(folder, theirs)
    deployed = succeeded(cdk.deploy(lake.folder))
    stacks, made = statuses(account, AWAY, f"lake-{NAME}"), inventory(account, AWAY) - before
    kubernetes = account.client("eks", AWAY).describe_cluster(name=f"lake-{NAME}")["cluster"]
    emr, steps = cluster(account)
    connectors = json.dumps(account.release(AWAY, f"lake-{NAME}", "kafka-connect").values["connectors"])
    opened, same = openings(account, theirs.group), cdk.diff(lake.folder)
    with as_operator(account):
        deployment = AwsDeployment(load_aws_environment(folder, NAME), load_databases(ROOT))
        left = teardown(deployment, False, quiet, yes)
    after, closed = inventory(account, AWAY), openings(account, theirs.group)
    seen = (theirs, before, deployed, stacks, made, kubernetes, emr, steps, connectors, opened, same)
    return Guest(*seen, left, after, closed)


def described(folder: Path, theirs: Theirs) -> Synthesized:
    content = {
        "name": NAME,
        "region": AWAY,
        "keep_data": False,
        "network": {"existing": theirs.vpc},
        "source": {"existing": theirs.database},
        "processing": {"release": "emr-7.10.0"},
        "operations": {"budget_usd": 100},
    }
    (folder / "environments").mkdir()
    (folder / f"environments/{NAME}.yaml").write_text(yaml.safe_dump(content))
    return synthesize(NAME, folder)


def build_theirs(account: Account) -> Theirs:
    """A network of two zones, and in it a database with its administrator's secret."""
    ec2, cidr, zones = account.client("ec2", AWAY), "10.60.0.0/16", [f"{AWAY}a", f"{AWAY}b"]
    vpc = ec2.create_vpc(CidrBlock=cidr)["Vpc"]["VpcId"]
    subnets = [
        ec2.create_subnet(VpcId=vpc, CidrBlock=f"10.60.{at}.0/24", AvailabilityZone=zone)["Subnet"]["SubnetId"]
        for at, zone in enumerate(zones)
    ]
    tables = [ec2.create_route_table(VpcId=vpc)["RouteTable"]["RouteTableId"] for _ in zones]
    group = ec2.create_security_group(GroupName="shop", Description="The shop's database", VpcId=vpc)["GroupId"]
    secret = json.dumps({"username": "owner", "password": PASSWORD})
    account.client("secretsmanager", AWAY).create_secret(Name="shop/admin", SecretString=secret)
    network = {"vpc_id": vpc, "cidr": cidr, "availability_zones": zones, "private_subnets": subnets}
    database = {"host": "db.example.com", "admin_secret": "shop/admin", "security_group": group}
    return Theirs({**network, "route_tables": tables}, database, group)


def cluster(account: Account) -> tuple[dict[str, Any], list[str]]:
    """The EMR cluster of the lake, and the names of its steps."""
    emr = account.client("emr", AWAY)
    (found,) = [one for one in emr.list_clusters()["Clusters"] if one["Name"] == f"lake-{NAME}-1"]
    steps = [one["Name"] for one in emr.list_steps(ClusterId=found["Id"])["Steps"]]
    return emr.describe_cluster(ClusterId=found["Id"])["Cluster"], steps


def openings(account: Account, group: str) -> list[tuple[int, int]]:
    """The ports that others may reach in a security group, and how many may."""
    (found,) = account.client("ec2", AWAY).describe_security_groups(GroupIds=[group])["SecurityGroups"]
    return [(one["FromPort"], len(one["UserIdGroupPairs"])) for one in found["IpPermissions"]]
