"""An ingress rule: one open port from one security group to another."""

from aws_cdk import aws_ec2 as ec2
from constructs import Construct


class IngressRule(ec2.CfnSecurityGroupIngress):
    """Belongs to the client's stack, so that servers never depend on their clients."""

    def __init__(
        self, scope: Construct, id: str, *, source: ec2.ISecurityGroup, target: ec2.ISecurityGroup, port: int
    ) -> None:
        super().__init__(
            scope,
            id,
            group_id=target.security_group_id,
            source_security_group_id=source.security_group_id,
            ip_protocol="tcp",
            from_port=port,
            to_port=port,
            description=f"{scope.node.id} {id}",
        )
