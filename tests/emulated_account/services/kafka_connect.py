"""MSK Connect as far as the stacks and the lake use it: plug-ins, configurations of workers, connectors; none runs.

Emulated: names that an account has once in a region, what a connector needs (a plug-in that is on S3, a configuration,
subnets, a role), that nothing is deleted which a connector uses, a list by prefix, a change of size or settings, and a
restart as an operation.

Not emulated: tasks, and the time that anything takes.
"""

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from botocore.exceptions import ClientError

from tests.emulated_account.clients import ACCOUNT
from tests.emulated_account.services.service import Answer, Service, refuse

LOGINS = ("IAM", "NONE")  # API reference of MSK Connect, KafkaClusterClientAuthentication


class KafkaConnect(Service):
    name, signed, whole = "kafkaconnect", "kafkaconnect", True

    def __init__(self, clients: Any) -> None:
        super().__init__(clients)
        self.plugins: dict[str, Answer] = {}  # all three by ARN
        self.workers: dict[str, Answer] = {}
        self.connectors: dict[str, Answer] = {}

    def create_custom_plugin(self, region: str, wish: Answer) -> Answer:
        place = wish["location"]["s3Location"]
        try:
            self.clients("s3", region).head_object(Bucket=place["bucketArn"].rpartition(":")[2], Key=place["fileKey"])
        except ClientError:
            raise refuse("BadRequestException", f"There is no object {place['fileKey']}") from None
        arn = self._new(region, "custom-plugin", "name", wish, self.plugins)
        return {"customPluginArn": arn, "name": wish["name"], "revision": 1, "customPluginState": "ACTIVE"}

    def create_worker_configuration(self, region: str, wish: Answer) -> Answer:
        arn = self._new(region, "worker-configuration", "name", wish, self.workers)
        latest = {"revision": 1, "creationTime": datetime.now(UTC)}
        return {"workerConfigurationArn": arn, "name": wish["name"], "latestRevision": latest}

    def create_connector(self, region: str, wish: Answer) -> Answer:
        login = wish["kafkaClusterClientAuthentication"]["authenticationType"]
        if login not in LOGINS:
            raise refuse("BadRequestException", f"authenticationType {login} is none of {LOGINS}")
        self._check(wish)
        vpc = wish["kafkaCluster"]["apacheKafkaCluster"]["vpc"]
        self.clients("ec2", region).describe_subnets(SubnetIds=vpc["subnets"])
        self.clients("ec2", region).describe_security_groups(GroupIds=vpc["securityGroups"])
        self.clients("iam", region).get_role(RoleName=wish["serviceExecutionRoleArn"].rpartition("/")[2])
        kept = {**wish, "currentVersion": uuid4().hex}
        arn = self._new(region, "connector", "connectorName", kept, self.connectors)
        return {"connectorArn": arn, "connectorName": wish["connectorName"], "connectorState": "RUNNING"}

    def _check(self, wish: Answer) -> None:
        named = [(self.plugins, one["customPlugin"]["customPluginArn"]) for one in wish["plugins"]]
        named.append((self.workers, wish["workerConfiguration"]["workerConfigurationArn"]))
        for kept, arn in named:
            found(kept, arn)

    def _new(self, region: str, kind: str, key: str, wish: Answer, kept: dict[str, Answer]) -> str:
        name = wish[key]
        if any(one[key] == name and f":{region}:" in arn for arn, one in kept.items()):
            raise refuse("ConflictException", f"A resource with this name already exists: {name}")
        arn = f"arn:aws:kafkaconnect:{region}:{ACCOUNT}:{kind}/{name}/{uuid4()}-1"
        kept[arn] = wish
        return arn

    def list_custom_plugins(self, region: str, _: Answer) -> Answer:
        return {"customPlugins": [{"name": one["name"]} for arn, one in self.plugins.items() if f":{region}:" in arn]}

    def list_worker_configurations(self, region: str, _: Answer) -> Answer:
        names = [{"name": one["name"]} for arn, one in self.workers.items() if f":{region}:" in arn]
        return {"workerConfigurations": names}

    def list_connectors(self, region: str, wish: Answer) -> Answer:
        prefix = wish.get("connectorNamePrefix", "")
        here = {arn: one for arn, one in self.connectors.items() if f":{region}:" in arn}
        chosen = {arn: one for arn, one in here.items() if one["connectorName"].startswith(prefix)}
        return {"connectors": [described(arn, one) for arn, one in chosen.items()]}

    def describe_connector(self, _: str, wish: Answer) -> Answer:
        arn = wish["connectorArn"]
        one = found(self.connectors, arn)
        return {**described(arn, one), "connectorConfiguration": one["connectorConfiguration"]}

    def update_connector(self, _: str, wish: Answer) -> Answer:
        one = found(self.connectors, wish["connectorArn"])
        if wish["currentVersion"] != one["currentVersion"]:
            raise refuse("BadRequestException", "The connector has another version by now")
        changed = [name for name in ("capacity", "connectorConfiguration") if name in wish]
        if len(changed) != 1:
            raise refuse("BadRequestException", "Either capacity or connectorConfiguration must be given")
        one |= {changed[0]: wish[changed[0]], "currentVersion": uuid4().hex}
        return {"connectorArn": wish["connectorArn"], "connectorState": "UPDATING"}

    def restart_connector(self, _: str, wish: Answer) -> Answer:
        found(self.connectors, wish["connectorArn"])
        operation = wish["connectorArn"].replace(":connector/", ":connector-operation/") + f"/{uuid4()}"
        return {"connectorArn": wish["connectorArn"], "connectorOperationArn": operation}

    def describe_connector_operation(self, _: str, wish: Answer) -> Answer:
        arn = wish["connectorOperationArn"]
        return {"connectorOperationArn": arn, "connectorOperationState": "RESTART_COMPLETE"}

    def delete_connector(self, _: str, wish: Answer) -> Answer:
        found(self.connectors, wish["connectorArn"])
        del self.connectors[wish["connectorArn"]]
        return {"connectorArn": wish["connectorArn"], "connectorState": "DELETING"}

    def delete_custom_plugin(self, _: str, wish: Answer) -> Answer:
        arn = self._unused(self.plugins, wish["customPluginArn"])
        return {"customPluginArn": arn, "customPluginState": "DELETING"}

    def delete_worker_configuration(self, _: str, wish: Answer) -> Answer:
        arn = self._unused(self.workers, wish["workerConfigurationArn"])
        return {"workerConfigurationArn": arn, "workerConfigurationState": "DELETING"}

    def _unused(self, kept: dict[str, Answer], arn: str) -> str:
        """Takes it out of what is kept."""
        found(kept, arn)
        if any(arn in str(one) for one in self.connectors.values()):
            raise refuse("BadRequestException", f"The resource is in use by a connector: {arn}")
        del kept[arn]
        return arn


def described(arn: str, one: Answer) -> Answer:
    names = ("connectorName", "currentVersion", "capacity")
    return {"connectorArn": arn, "connectorState": "RUNNING", **{name: one[name] for name in names}}


def found(kept: dict[str, Answer], arn: str) -> Answer:
    if arn not in kept:
        raise refuse("NotFoundException", f"The resource {arn} does not exist")
    return kept[arn]
