"""A service on Fargate behind an internal load balancer."""

from aws_cdk import Duration
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_elasticloadbalancingv2 as balancing
from constructs import Construct

from lake_constructs.fargate_task import FargateTask
from lake_constructs.ingress_rule import IngressRule


class FargateService(Construct):
    """group: who may connect to the load balancer, by rules of the callers. health: path and port of the program."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        vpc: ec2.IVpc,
        subnets: ec2.SubnetSelection,
        cluster: ecs.ICluster,
        task: FargateTask,
        port: int,
        health: tuple[str, int],
        replicas: int,
        group: ec2.ISecurityGroup,
        own_group: ec2.ISecurityGroup,
    ) -> None:
        super().__init__(scope, id)
        path, health_port = health
        self.balancer = balancing.NetworkLoadBalancer(
            self, "Balancer", vpc=vpc, internet_facing=False, vpc_subnets=subnets, security_groups=[group]
        )
        self.targets = balancing.NetworkTargetGroup(
            self,
            "Targets",
            vpc=vpc,
            port=port,
            target_type=balancing.TargetType.IP,
            deregistration_delay=Duration.seconds(30),
            health_check=balancing.HealthCheck(
                protocol=balancing.Protocol.HTTP, path=path, port=str(health_port), interval=Duration.seconds(10)
            ),
        )
        listener = self.balancer.add_listener("Listener", port=port, default_target_groups=[self.targets])
        self.service = ecs.FargateService(
            self,
            "Service",
            cluster=cluster,
            task_definition=task,
            desired_count=replicas,
            min_healthy_percent=100,
            max_healthy_percent=200,
            security_groups=[own_group],
            vpc_subnets=subnets,
            health_check_grace_period=Duration.minutes(3),
            circuit_breaker=ecs.DeploymentCircuitBreaker(enable=True, rollback=True),
        )
        self.service.attach_to_network_target_group(self.targets)
        opened = [
            IngressRule(self, f"From{number}", source=group, target=own_group, port=number)
            for number in (port, health_port)
        ]
        # A task that starts before its rights, or that nobody can ask how it is, counts as a failed one.
        self.service.node.add_dependency(listener, *task.roles, *opened)

    @property
    def url(self) -> str:
        return f"http://{self.balancer.load_balancer_dns_name}"
