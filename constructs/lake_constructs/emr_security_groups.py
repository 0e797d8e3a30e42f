"""The security groups of an EMR cluster in a private subnet."""

from aws_cdk import Tags
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from lake_constructs.emr_roles import TAG
from lake_constructs.ingress_rule import IngressRule

SERVICE_TO_NODES = 8443
NODES_TO_SERVICE = 9443
ALL_PORTS = (ec2.Port.tcp_range(0, 65535), ec2.Port.udp_range(0, 65535), ec2.Port.all_icmp())


class EmrSecurityGroups(Construct):
    """Exactly the rules that EMR needs. EMR itself adds missing rules, and such rules would block the deletion."""

    def __init__(self, scope: Construct, id: str, *, vpc: ec2.IVpc) -> None:
        super().__init__(scope, id)
        self.nodes = ec2.SecurityGroup(self, "Nodes", vpc=vpc)
        self.service = ec2.SecurityGroup(self, "Service", vpc=vpc, allow_all_outbound=False)
        for port in ALL_PORTS:
            self.nodes.add_ingress_rule(self.nodes, port, "between the nodes")
        IngressRule(self, "ServiceToNodes", source=self.service, target=self.nodes, port=SERVICE_TO_NODES)
        IngressRule(self, "NodesToService", source=self.nodes, target=self.service, port=NODES_TO_SERVICE)
        ec2.CfnSecurityGroupEgress(
            self,
            "FromService",
            group_id=self.service.security_group_id,
            destination_security_group_id=self.nodes.security_group_id,
            ip_protocol="tcp",
            from_port=SERVICE_TO_NODES,
            to_port=SERVICE_TO_NODES,
        )
        Tags.of(self).add(*TAG)
