"""A separate VPC for the source database, peered with the lake's VPC."""

from collections.abc import Sequence

from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from lake_constructs.lake_vpc import log_flows
from lake_constructs.log_group import LogSettings


class PeeredVpc(ec2.Vpc):
    """Isolated subnets only, with routes to the lake's network and back."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cidr: str,
        zones: Sequence[str],
        lake: ec2.IVpc,
        lake_cidr: str,
        log_settings: LogSettings,
    ) -> None:
        super().__init__(
            scope,
            id,
            ip_addresses=ec2.IpAddresses.cidr(cidr),
            availability_zones=list(zones),
            nat_gateways=0,
            subnet_configuration=[ec2.SubnetConfiguration(name="Data", subnet_type=ec2.SubnetType.PRIVATE_ISOLATED)],
            restrict_default_security_group=False,  # as in LakeVpc
        )
        log_flows(self, log_settings)
        peering = ec2.CfnVPCPeeringConnection(self, "Peering", vpc_id=lake.vpc_id, peer_vpc_id=self.vpc_id)
        routes = (("ToLake", self.isolated_subnets, lake_cidr), ("FromLake", lake.private_subnets, cidr))
        for name, subnets, target in routes:
            for number, subnet in enumerate(subnets, 1):
                ec2.CfnRoute(
                    self,
                    f"{name}{number}",
                    route_table_id=subnet.route_table.route_table_id,
                    destination_cidr_block=target,
                    vpc_peering_connection_id=peering.ref,
                )
