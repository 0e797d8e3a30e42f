"""Users of an MSK cluster that log in by name and password (SASL/SCRAM)."""

from collections.abc import Mapping

from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_msk as msk
from constructs import Construct

from lake_constructs.database_users import read_secret
from lake_constructs.service_login import ServiceLogin


class KafkaUsers(Construct):
    """A secret for each user, which MSK itself reads: by its guide, each has the prefix AmazonMSK_ and a key of ours.

    names: of the secrets, by user. What a user may do is in Kafka's own ACLs, which the chart of Connect makes.
    """

    def __init__(self, scope: Construct, id: str, *, cluster: str, names: Mapping[str, str], key: kms.IKey) -> None:
        """cluster: its ARN."""
        super().__init__(scope, id)
        self._key = key
        self.secrets = {
            user: ServiceLogin(self, user.capitalize(), user=user, key=key, name=name) for user, name in names.items()
        }
        arns = [one.secret_arn for one in self.secrets.values()]
        msk.CfnBatchScramSecret(self, "Association", cluster_arn=cluster, secret_arn_list=arns)

    def read(self, user: str) -> list[iam.PolicyStatement]:
        """Read the password of this user."""
        return read_secret(self.secrets[user], self._key)
