"""Statements that fit into a policy: IAM takes 6,144 characters in each managed policy."""

from collections.abc import Iterator

from aws_cdk import aws_iam as iam

RESOURCES = 10  # 2,000 characters, of ARNs as long as they become


def in_pieces(statement: iam.PolicyStatement) -> Iterator[iam.PolicyStatement]:
    """The same rights in statements of few resources. The CDK fills policies with whole statements (AWS-4)."""
    resources = statement.resources
    if len(resources) <= RESOURCES:
        yield statement
        return
    for at in range(0, len(resources), RESOURCES):
        yield statement.copy(resources=resources[at : at + RESOURCES])
