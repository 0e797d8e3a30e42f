"""The network: the lake's own VPC or an existing one, and optionally a VPC of the source."""

from aws_cdk import Tags
from aws_cdk import aws_ec2 as ec2
from constructs import Construct
from lake_constructs.emr_roles import TAG
from lake_constructs.lake_vpc import ISOLATED, LakeVpc, deploy_time_zones
from lake_constructs.peered_vpc import PeeredVpc

from lake.aws.network import ExistingVpc
from stacks.part import Blueprint, Part
from stacks.storage import StorageStack

SOURCE_ZONES = 2  # as many as RDS demands


class NetworkStack(Part):
    """vpc for programs, data_subnets for data stores, source_vpc for the database."""

    def __init__(self, scope: Construct, blueprint: Blueprint, *, storage: StorageStack) -> None:
        super().__init__(scope, blueprint)
        self._storage = storage
        existing, apart = self.settings.network.existing, self.settings.network.source_vpc
        self.vpc: ec2.IVpc = self._described(existing) if existing else self._new()
        self.data_subnets = ec2.SubnetSelection(subnets=self.vpc.private_subnets) if existing else ISOLATED
        self.source_vpc = self.vpc
        if apart:
            self.source_vpc = PeeredVpc(
                self,
                "SourceVpc",
                cidr=apart.cidr,
                zones=self._zones(SOURCE_ZONES),
                lake=self.vpc,
                lake_cidr=self.settings.network.lake_cidr,
                log_settings=storage.log_settings,
            )
        self.source_subnets = ISOLATED if apart else self.data_subnets

    def _new(self) -> ec2.Vpc:
        network = self.settings.network
        zones, logs = self._zones(network.zones), self._storage.log_settings
        vpc = LakeVpc(self, "Vpc", cidr=network.cidr, zones=zones, nat_gateways=network.nat_gateways, log_settings=logs)
        Tags.of(vpc).add(*TAG)
        if network.interface_endpoints:
            vpc.add_interface_endpoints()
        return vpc

    def _zones(self, count: int) -> list[str]:
        return [*self.settings.network.named_zones][:count] or deploy_time_zones(count)

    def _described(self, existing: ExistingVpc) -> ec2.IVpc:
        """A VPC that others own. Its ids come from the environment, because a look-up would need credentials."""
        return ec2.Vpc.from_vpc_attributes(
            self,
            "Vpc",
            vpc_id=existing.vpc_id,
            vpc_cidr_block=existing.cidr,
            availability_zones=list(existing.availability_zones),
            private_subnet_ids=list(existing.private_subnets),
            private_subnet_route_table_ids=list(existing.route_tables),
        )
