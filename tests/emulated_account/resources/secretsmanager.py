"""Secrets, and what a database adds to them."""

import json
from collections.abc import Mapping
from typing import Any

from tests.emulated_account.errors import NotEmulated
from tests.emulated_account.resources.kind import Kind, Made, Properties


class Secret(Kind):
    type, service = "AWS::SecretsManager::Secret", "secretsmanager"

    def create(self, properties: Properties) -> Made:
        name = properties.get("Name") or self.place.name(stack=False)
        text = self._text(properties["GenerateSecretString"])
        answer = self.call("create_secret", properties.rest(), Name=name, SecretString=text)
        return Made(answer["ARN"], {"Id": answer["ARN"]})

    def _text(self, wish: Mapping[str, Any]) -> str:
        """The template with a new password under its key."""
        rules = {key: value for key, value in wish.items() if key not in ("SecretStringTemplate", "GenerateStringKey")}
        password = self.call("get_random_password", rules)["RandomPassword"]
        if "GenerateStringKey" not in wish:
            return str(password)
        return json.dumps({**json.loads(wish["SecretStringTemplate"]), wish["GenerateStringKey"]: password})

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        self.client.delete_secret(SecretId=made.id, ForceDeleteWithoutRecovery=True)


class SecretTargetAttachment(Kind):
    """Writes into the secret where its database is."""

    type, service = "AWS::SecretsManager::SecretTargetAttachment", "secretsmanager"

    def create(self, properties: Properties) -> Made:
        if properties["TargetType"] != "AWS::RDS::DBInstance":
            raise NotEmulated(f"a secret attached to {properties['TargetType']}")
        secret = properties["SecretId"]
        text = self.client.get_secret_value(SecretId=secret)["SecretString"]
        joined = {**json.loads(text), **self._database(properties["TargetId"])}
        self.client.put_secret_value(SecretId=secret, SecretString=json.dumps(joined))
        return Made(secret, {"Id": secret})

    def _database(self, name: str) -> dict[str, Any]:
        rds = self.place.clients("rds", self.place.region)
        (found,) = rds.describe_db_instances(DBInstanceIdentifier=name)["DBInstances"]
        place = {"host": found["Endpoint"]["Address"], "port": found["Endpoint"]["Port"]}
        named = {"dbname": found["DBName"]} if found.get("DBName") else {}
        return {"engine": found["Engine"], **place, **named, "dbInstanceIdentifier": name}

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        """What was written stays, as on AWS."""


class ResourcePolicy(Kind):
    """Who else may read a secret."""

    type, service = "AWS::SecretsManager::ResourcePolicy", "secretsmanager"

    def create(self, properties: Properties) -> Made:
        secret = properties["SecretId"]
        self.client.put_resource_policy(SecretId=secret, ResourcePolicy=json.dumps(properties["ResourcePolicy"]))
        return Made(secret, {"Id": secret})

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        """It goes with its secret."""
