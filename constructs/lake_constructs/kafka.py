"""A Kafka cluster on MSK as its clients see it: brokers, security group, and ARNs to grant rights on."""

from aws_cdk import Aws, CfnDeletionPolicy, Fn, RemovalPolicy
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_msk as msk
from aws_cdk import custom_resources as custom
from constructs import Construct

from lake_constructs.kafka_users import KafkaUsers
from lake_constructs.log_group import EncryptedLogGroup, LogSettings

BY_IAM, BY_SCRAM = 9098, 9096  # the listeners, both over TLS
ADDRESSES = {BY_IAM: "BootstrapBrokerStringSaslIam", BY_SCRAM: "BootstrapBrokerStringSaslScram"}


class Kafka(Construct):
    """The base of the provisioned, the serverless and the existing cluster.

    The lake logs in by IAM. Where there are users, its clients do so by name and password, and IAM is for the Job that
    gives them their rights.
    """

    def __init__(
        self, scope: Construct, id: str, *, vpc: ec2.IVpc, log_settings: LogSettings, security_group: str = ""
    ) -> None:
        """security_group: the id of the brokers' own, if they have one already."""
        super().__init__(scope, id)
        self._call_log = EncryptedLogGroup(self, "BrokersLog", settings=log_settings)
        self.security_group = (
            ec2.SecurityGroup.from_security_group_id(self, "Group", security_group)
            if security_group
            else ec2.SecurityGroup(self, "Group", vpc=vpc, allow_all_outbound=False)
        )
        self.arn = ""
        self.users: KafkaUsers | None = None
        self._addresses: dict[int, str] = {}

    @property
    def port(self) -> int:
        """Of the listener for the clients of the lake."""
        return BY_SCRAM if self.users else BY_IAM

    @property
    def bootstrap_brokers(self) -> str:
        """The addresses for the clients of the lake."""
        return self._addresses[self.port]

    @property
    def iam_brokers(self) -> str:
        """The addresses for those who log in by IAM."""
        return self._addresses[BY_IAM]

    @staticmethod
    def subnet_ids(vpc: ec2.IVpc, subnets: ec2.SubnetSelection) -> list[str]:
        return vpc.select_subnets(subnet_type=subnets.subnet_type, subnets=subnets.subnets).subnet_ids

    def opened(self, cluster: msk.CfnCluster | msk.CfnServerlessCluster) -> None:
        """Called once by a subclass that makes its cluster."""
        # Topics go with their stack, also where data are kept: the archive has what was read, no snapshot of a cluster
        # exists, and a kept one would cost as before and hold the network. A replacement never deletes the old one.
        cluster.apply_removal_policy(RemovalPolicy.DESTROY, apply_to_update_replace_policy=False)
        cluster.cfn_options.update_replace_policy = CfnDeletionPolicy.RETAIN
        self.found(cluster.attr_arn)

    def found(self, arn: str) -> None:
        """Called once, with the ARN of the cluster.

        CloudFormation has no attribute for the addresses of the brokers, so a custom resource queries them.
        """
        self.arn = arn
        ports = [BY_IAM, BY_SCRAM] if self.users else [BY_IAM]
        call = custom.AwsSdkCall(
            service="Kafka",
            action="getBootstrapBrokers",
            parameters={"ClusterArn": arn},
            physical_resource_id=custom.PhysicalResourceId.of(arn),
            output_paths=[ADDRESSES[port] for port in ports],
        )
        # By AWS's reference the action knows no resource, so a statement that names one allows nothing.
        statement = iam.PolicyStatement(actions=["kafka:GetBootstrapBrokers"], resources=["*"])
        brokers = custom.AwsCustomResource(
            self,
            "Brokers",
            on_update=call,  # on_create, too
            policy=custom.AwsCustomResourcePolicy.from_statements([statement]),
            install_latest_aws_sdk=False,
            log_group=self._call_log,
        )
        self._addresses = {port: brokers.get_response_field(ADDRESSES[port]) for port in ports}

    def topic(self, name: str) -> str:
        """The ARN of one topic."""
        return self._named("topic", name)

    def group(self, name: str) -> str:
        """The ARN of one consumer group."""
        return self._named("group", name)

    def _named(self, kind: str, name: str) -> str:
        # arn:aws:kafka:<region>:<account>:cluster/<name>/<uuid>; IAM names the parts <kind>/<name>/<uuid>/<part>.
        cluster = Fn.select(1, Fn.split(":cluster/", self.arn))
        return f"arn:{Aws.PARTITION}:kafka:{Aws.REGION}:{Aws.ACCOUNT_ID}:{kind}/{cluster}/{name}"
