"""The network of a lake: public subnets for NAT alone, private ones for programs, isolated ones for data."""

from collections.abc import Sequence

from aws_cdk import Fn
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from lake_constructs.log_group import EncryptedLogGroup, LogSettings

PRIVATE = ec2.SubnetSelection(subnet_type=ec2.SubnetType.PRIVATE_WITH_EGRESS)
ISOLATED = ec2.SubnetSelection(subnet_type=ec2.SubnetType.PRIVATE_ISOLATED)
SUBNETS = (
    ec2.SubnetConfiguration(name="Public", subnet_type=ec2.SubnetType.PUBLIC, map_public_ip_on_launch=False),
    ec2.SubnetConfiguration(name="Private", subnet_type=ec2.SubnetType.PRIVATE_WITH_EGRESS),
    ec2.SubnetConfiguration(name="Data", subnet_type=ec2.SubnetType.PRIVATE_ISOLATED),
)
ENDPOINTS = {
    "Secrets": ec2.InterfaceVpcEndpointAwsService.SECRETS_MANAGER,
    "Keys": ec2.InterfaceVpcEndpointAwsService.KMS,
    "Tokens": ec2.InterfaceVpcEndpointAwsService.STS,
    "Glue": ec2.InterfaceVpcEndpointAwsService.GLUE,
    "Logs": ec2.InterfaceVpcEndpointAwsService.CLOUDWATCH_LOGS,
    "ImageApi": ec2.InterfaceVpcEndpointAwsService.ECR,
    "Images": ec2.InterfaceVpcEndpointAwsService.ECR_DOCKER,
    # Nodes and load balancers of EKS Auto Mode, its API for the function that runs helm, and roles of pods.
    "Machines": ec2.InterfaceVpcEndpointAwsService.EC2,
    "Balancers": ec2.InterfaceVpcEndpointAwsService.ELASTIC_LOAD_BALANCING,
    "Kubernetes": ec2.InterfaceVpcEndpointAwsService.EKS,
    "PodRoles": ec2.InterfaceVpcEndpointAwsService.EKS_AUTH,
    "Functions": ec2.InterfaceVpcEndpointAwsService.LAMBDA_,
    # EMR's own service, and what its nodes report.
    "Clusters": ec2.InterfaceVpcEndpointAwsService.EMR,
    "Metrics": ec2.InterfaceVpcEndpointAwsService.CLOUDWATCH_MONITORING,
    "Parameters": ec2.InterfaceVpcEndpointAwsService.SSM,
}


class LakeVpc(ec2.Vpc):
    """A new VPC in these zones."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cidr: str,
        zones: Sequence[str],
        nat_gateways: int,
        log_settings: LogSettings,
    ) -> None:
        super().__init__(
            scope,
            id,
            ip_addresses=ec2.IpAddresses.cidr(cidr),
            availability_zones=list(zones),
            nat_gateways=nat_gateways,
            subnet_configuration=list(SUBNETS),
            gateway_endpoints={"S3": ec2.GatewayVpcEndpointOptions(service=ec2.GatewayVpcEndpointAwsService.S3)},
            # The restriction would need a custom resource; nothing here uses the default group.
            restrict_default_security_group=False,
        )
        self._cidr = cidr
        log_flows(self, log_settings)

    def add_interface_endpoints(self) -> None:
        """Reach AWS's own services without leaving the network."""
        group = ec2.SecurityGroup(self, "Endpoints", vpc=self, allow_all_outbound=False)
        group.add_ingress_rule(ec2.Peer.ipv4(self._cidr), ec2.Port.HTTPS, "from the lake")
        for name, service in ENDPOINTS.items():
            self.add_interface_endpoint(name, service=service, subnets=PRIVATE, security_groups=[group], open=False)


def deploy_time_zones(count: int) -> list[str]:
    """Zones that AWS chooses at deployment, so that synth needs no account."""
    return [Fn.select(number, Fn.get_azs()) for number in range(count)]


def log_flows(vpc: ec2.Vpc, settings: LogSettings) -> None:
    """Log all connections, accepted and refused."""
    group = EncryptedLogGroup(vpc, "Flows", settings=settings)
    vpc.add_flow_log("FlowLog", destination=ec2.FlowLogDestination.to_cloud_watch_logs(group))
