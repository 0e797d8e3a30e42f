"""Findings of cdk-nag (AwsSolutions) that are meant to be: where, which, and why."""

from dataclasses import dataclass

from aws_cdk import Acknowledgment, Stack, Validations
from constructs import IConstruct


@dataclass(frozen=True)
class Accepted:
    """One place and the rules that it breaks on purpose; <env> stands for the name of the environment."""

    part: str
    path: str
    rules: tuple[str, ...]
    reason: str


def managed(*names: str) -> tuple[str, ...]:
    return tuple(f"IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/{name}]" for name in names)


def below(export: str, prefix: str) -> str:
    """Objects of a bucket of the storage stack below a prefix."""
    return f"IAM5[Resource::lake-<env>-storage:ExportsOutputFnGetAtt{export}/{prefix}/*]"


LAMBDA = managed("service-role/AWSLambdaBasicExecutionRole", "service-role/AWSLambdaVPCAccessExecutionRole")
REGISTRIES = managed("AmazonEC2ContainerRegistryReadOnly")
PUBLIC_REGISTRY = (
    'IAM4[Policy::{"Fn::If":["KubernetesKubectlProviderHandlerHasEcrPublic762B04FC",{"Fn::Join":["",["arn:",'
    '{"Ref":"AWS::Partition"},":iam::aws:policy/AmazonElasticContainerRegistryPublicReadOnly"]]},'
    '{"Ref":"AWS::NoValue"}]}]'
)
CDK_OWN = "The CDK's own handler: its role and its code come with aws-cdk-lib and are renewed with it."
EKS_OWN = "The policies that EKS names for this role; a copy would miss what AWS adds to them."
PASSWORDS = (
    "Rotated by hand: a worker reads the password at its start, so a new one asks for a restart at a chosen time."
)
THROW_AWAY = "A throw-away environment: one zone is enough, and `cdk destroy` must be able to remove it."
EMR_WRAPPED = (
    "Is on: the rule looks for the setting outside of EncryptionConfiguration, which is where EMR's API wants it."
)
ACCEPTED = (
    Accepted("source", "Users", ("SMG4",), PASSWORDS),
    Accepted("source", "Database/Secret", ("SMG4",), "The administrator's password is used at set-up only."),
    Accepted(
        "source",
        "Database/MonitoringRole",
        managed("service-role/AmazonRDSEnhancedMonitoringRole"),
        "The policy that RDS names for this role.",
    ),
    Accepted("source", "Database", ("RDS11",), "Another port hides nothing: only two security groups get through."),
    Accepted("source", "Database", ("RDS3", "RDS10"), THROW_AWAY),
    Accepted("streaming", "AWS679f53fac002430cb0da5b7982bd2287/ServiceRole", LAMBDA, CDK_OWN),
    Accepted("connect", "Kubernetes/KubectlProvider/Handler", (*LAMBDA, *REGISTRIES, PUBLIC_REGISTRY, "L1"), CDK_OWN),
    Accepted(
        "connect",
        "Kubernetes/KubectlProvider/Handler",
        (
            "IAM5[Action::s3:GetBucket*]",
            "IAM5[Action::s3:GetObject*]",
            "IAM5[Action::s3:List*]",
            "IAM5[Resource::arn:aws:s3:::cdk-hnb659fds-assets-<AWS::AccountId>-<region>/*]",
        ),
        "The CDK's own handler reads the charts: from the bucket of the CDK's own assets only.",
    ),
    Accepted(
        "connect",
        "Kubernetes/KubectlProvider/Provider",
        (*LAMBDA, "IAM5[Resource::<KubernetesKubectlProviderHandler0545C579.Arn>:*]"),
        "The CDK's own framework calls its one handler, in any version.",
    ),
    Accepted(
        "connect",
        "Kubernetes/Role",
        managed(
            "AmazonEKSClusterPolicy",
            "AmazonEKSComputePolicy",
            "AmazonEKSBlockStoragePolicy",
            "AmazonEKSLoadBalancingPolicy",
            "AmazonEKSNetworkingPolicy",
        ),
        EKS_OWN,
    ),
    Accepted(
        "connect", "Kubernetes/KubernetesnodePoolRole", (*managed("AmazonEKSWorkerNodePolicy"), *REGISTRIES), EKS_OWN
    ),
    Accepted(
        "connect",
        "Logs/Agent",
        managed("CloudWatchAgentServerPolicy"),
        "The policy that CloudWatch names for its agent.",
    ),
    Accepted(
        "connect",
        "ConnectRole",
        (below("Bronze2BD6FD35Arn08D32B3C", "s3-sink"),),
        "The sink connector, where there is one, names its files; the prefix is the finest that can be said.",
    ),
    Accepted(
        "connect",
        "RequesterRole",
        tuple(below("Artifacts82DD59A1Arn3B515032", f"connectors/{one}") for one in ("requests", "answers")),
        "Each request has a name of its own, which its answer has, too.",
    ),
    Accepted(
        "processing",
        "Nodes",
        (
            below("Silver060FFE09ArnB923DCB0", "silver"),
            below("Silver060FFE09ArnB923DCB0", "streamer"),
            below("Bronze2BD6FD35Arn08D32B3C", "bronze"),
            below("Artifacts82DD59A1Arn3B515032", "state"),
            below("Logs6819BB44Arn28BC796A", "emr"),
        ),
        "Files get their names from the jobs; the prefix is the finest that can be said.",
    ),
    Accepted(
        "processing",
        "Nodes",
        ("IAM5[Resource::arn:<AWS::Partition>:glue:<AWS::Region>:<AWS::AccountId>:table/<database>/*]",),
        "The jobs register every table of their databases, those to come too.",
    ),
    Accepted(
        "processing",
        "Nodes",
        ("IAM5[Resource::*]",),
        "PutMetricData knows no resource; a condition holds it to one namespace.",
    ),
    Accepted(
        "processing", "Service", managed("service-role/AmazonEMRServicePolicy_v2"), "EMR's own, narrowed by a tag."
    ),
    Accepted("processing", "Cluster", ("EMR4",), EMR_WRAPPED),
    Accepted(
        "processing",
        "Cluster",
        ("EMR5",),
        "TLS asks for certificates, which the operator may bring; Spark encrypts without them.",
    ),
    Accepted("processing", "Cluster", ("EMR6",), "Nobody logs in: no key pair is given, and jobs enter as steps."),
)


def acknowledge(stacks: dict[str, Stack], environment: str, databases: list[str], *, keep_data: bool) -> None:
    """Each finding where it stands: the same elsewhere is an error. databases are those of the catalog."""
    for accepted in ACCEPTED:
        stack = stacks[accepted.part]
        place = found(stack, accepted.path)
        if place is None or (keep_data and accepted.reason is THROW_AWAY):
            continue
        for rule in accepted.rules:
            for id in spelt(rule, environment, stack.region, databases):
                note = Acknowledgment(id=f"AwsSolutions::AwsSolutions-{id}", reason=accepted.reason)
                Validations.of(place).acknowledge(note)


def spelt(rule: str, environment: str, region: str, databases: list[str]) -> list[str]:
    """The rule as cdk-nag spells it here; one per database where it speaks of databases."""
    id = rule.replace("<env>", environment).replace("<region>", region)
    return sorted({id.replace("<database>", database) for database in databases})


def found(stack: Stack, path: str) -> IConstruct | None:
    """The construct at the path; None where the environment has none."""
    place: IConstruct | None = stack
    for name in path.split("/"):
        place = place.node.try_find_child(name) if place else None
    return place
