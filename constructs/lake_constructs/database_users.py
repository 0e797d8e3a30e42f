"""The PostgreSQL users of a lake: one secret each, so that none can do another's work."""

from aws_cdk import RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_rds as rds
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

CAPTURE = "lake_capture"  # reads changes, for Debezium
VERIFY = "lake_verify"  # reads rows, for the proof
REGISTRY = "registry"  # owns the registry's database and nothing else
# No quoting trouble in JDBC URLs, SQL and properties files.
AWKWARD = "\"'\\/@:;%$&?#{}[]()<>=+`~^|*!., "


class DatabaseUsers(Construct):
    """Passwords are made by Secrets Manager and never leave it but to their owner."""

    def __init__(self, scope: Construct, id: str, *, key: kms.IKey, removal_policy: RemovalPolicy) -> None:
        super().__init__(scope, id)
        self._key = key
        self._removal_policy = removal_policy
        self.capture = self._user("Capture", CAPTURE)
        self.verify = self._user("Verify", VERIFY)
        self.registry = self._user("Registry", REGISTRY)

    def _user(self, id: str, name: str) -> secretsmanager.ISecret:
        secret = rds.DatabaseSecret(self, id, username=name, encryption_key=self._key, exclude_characters=AWKWARD)
        secret.apply_removal_policy(self._removal_policy)
        return secret


def read_secret(secret: secretsmanager.ISecret, key: kms.IKey) -> list[iam.PolicyStatement]:
    """Read this one secret."""
    actions = ["secretsmanager:GetSecretValue", "secretsmanager:DescribeSecret"]
    return [
        iam.PolicyStatement(actions=actions, resources=[secret.secret_arn]),
        iam.PolicyStatement(actions=["kms:Decrypt"], resources=[key.key_arn]),
    ]
