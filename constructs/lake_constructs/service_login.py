"""A user of one of the lake's own services, with a generated password."""

import json

from aws_cdk import RemovalPolicy
from aws_cdk import aws_kms as kms
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from lake_constructs.database_users import AWKWARD


class ServiceLogin(secretsmanager.Secret):
    """Secrets Manager generates the password. The service and its callers read it when they start."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        user: str,
        key: kms.IKey,
        name: str | None = None,
        removal_policy: RemovalPolicy = RemovalPolicy.DESTROY,
    ) -> None:
        """name: of the secret, where somebody asks for one. Most open nothing that outlives the services."""
        generated = secretsmanager.SecretStringGenerator(
            secret_string_template=json.dumps({"username": user}),
            generate_string_key="password",
            password_length=40,
            exclude_characters=AWKWARD,
        )
        super().__init__(
            scope,
            id,
            secret_name=name,
            generate_secret_string=generated,
            encryption_key=key,
            removal_policy=removal_policy,
        )
