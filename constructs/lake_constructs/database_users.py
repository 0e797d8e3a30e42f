"""The PostgreSQL users of a lake: one secret each, so that no user has the rights of another."""

from collections.abc import Sequence

from aws_cdk import RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_rds as rds
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

# Excluded from passwords: they need quoting in JDBC URLs, SQL or properties files.
AWKWARD = "\"'\\/@:;%$&?#{}[]()<>=+`~^|*!., "


class DatabaseUsers(Construct):
    """Secrets Manager generates the passwords and gives them to their owner only."""

    def __init__(
        self, scope: Construct, id: str, *, names: Sequence[str], key: kms.IKey, removal_policy: RemovalPolicy
    ) -> None:
        super().__init__(scope, id)
        self.by_name: dict[str, secretsmanager.ISecret] = {}
        for name in names:
            id = name.removeprefix("lake_").capitalize()
            secret = rds.DatabaseSecret(self, id, username=name, encryption_key=key, exclude_characters=AWKWARD)
            secret.apply_removal_policy(removal_policy)
            self.by_name[name] = secret


def read_secret(secret: secretsmanager.ISecret, key: kms.IKey | None) -> list[iam.PolicyStatement]:
    """Read this one secret. Without a key, it is under Secrets Manager's own, which every reader may use."""
    # An ARN built from a name misses the six characters that Secrets Manager adds.
    arn = secret.secret_full_arn or f"{secret.secret_arn}-??????"
    use = [iam.PolicyStatement(actions=["kms:Decrypt"], resources=[key.key_arn])] if key else []
    return [iam.PolicyStatement(actions=["secretsmanager:GetSecretValue"], resources=[arn]), *use]
