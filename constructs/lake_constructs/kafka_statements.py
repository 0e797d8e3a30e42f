"""Rights of a role in Kafka: exact actions on exact topics and groups, with the further actions that each needs."""

from collections.abc import Sequence

from aws_cdk import aws_iam as iam

from lake_constructs.kafka import Kafka

# An idempotent producer gets its id from the cluster, so it needs a right there.
IDEMPOTENT = ["WriteDataIdempotently"]


def _allow(actions: Sequence[str], resources: Sequence[str]) -> iam.PolicyStatement:
    return iam.PolicyStatement(actions=[f"kafka-cluster:{action}" for action in actions], resources=list(resources))


def _join(kafka: Kafka, groups: Sequence[str]) -> iam.PolicyStatement:
    return _allow(["DescribeGroup", "AlterGroup"], [kafka.group(name) for name in groups])


def connect(kafka: Kafka, *, produce: bool) -> iam.PolicyStatement:
    """Log in, and send if it produces."""
    return _allow(["Connect", *(IDEMPOTENT if produce else [])], [kafka.arn])


def produce(kafka: Kafka) -> iam.PolicyStatement:
    """Send, for a role that may log in already."""
    return _allow(IDEMPOTENT, [kafka.arn])


def write(kafka: Kafka, topics: Sequence[str]) -> iam.PolicyStatement:
    """Create the named topics and write to them. A name may be a pattern, as of IAM."""
    return _allow(["CreateTopic", "DescribeTopic", "WriteData"], [kafka.topic(name) for name in topics])


def read(kafka: Kafka, topics: Sequence[str], groups: Sequence[str]) -> list[iam.PolicyStatement]:
    """Read the named topics, which may be patterns, as one of the named groups."""
    return [
        _allow(["DescribeTopic", "ReadData"], [kafka.topic(name) for name in topics]),
        _join(kafka, groups),
    ]


def exchange(kafka: Kafka, topics: Sequence[str], groups: Sequence[str]) -> list[iam.PolicyStatement]:
    """Create, write and read the same topics."""
    actions = ["CreateTopic", "DescribeTopic", "ReadData", "WriteData"]
    return [
        _allow(actions, [kafka.topic(name) for name in topics]),
        _join(kafka, groups),
    ]


def keep_state(kafka: Kafka, topics: Sequence[str], group: str) -> list[iam.PolicyStatement]:
    """The rights of a Connect worker on its own three topics and its group."""
    actions = ["CreateTopic", "DescribeTopic", "DescribeTopicDynamicConfiguration", "ReadData", "WriteData"]
    return [
        _allow(actions, [kafka.topic(name) for name in topics]),
        _join(kafka, [group]),
    ]


def give_rights(kafka: Kafka) -> iam.PolicyStatement:
    """Look at Kafka's own ACLs and change them, which are for users with passwords: IAM decides about roles."""
    return _allow(["Connect", "DescribeCluster", "AlterCluster"], [kafka.arn])
