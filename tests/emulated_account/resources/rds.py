"""PostgreSQL as a service."""

from collections.abc import Mapping
from typing import Any

from tests.emulated_account.resources.kind import Kind, Made, Properties

AT_ONCE = 20  # parameters that one call may change


class DbParameterGroup(Kind):
    type, service = "AWS::RDS::DBParameterGroup", "rds"

    def create(self, properties: Properties) -> Made:
        name = properties.get("DBParameterGroupName") or self.place.name(255, lower=True)
        parameters = properties.get("Parameters", {})
        family = {"DBParameterGroupFamily": properties["Family"], "Description": properties["Description"]}
        self.call("create_db_parameter_group", {**properties.rest(), **family}, DBParameterGroupName=name)
        self._set(name, parameters)
        return Made(name, {"DBParameterGroupName": name})

    def update(self, made: Made, properties: Properties, before: Mapping[str, Any]) -> Made:
        """Only parameters can be changed so far."""
        if {**properties, "Parameters": None} != {**before, "Parameters": None}:
            return super().update(made, properties, before)
        properties.rest()
        self._reset(made.id, set(before["Parameters"]) - set(properties["Parameters"]))
        self._set(made.id, properties["Parameters"])
        return made

    def _set(self, name: str, parameters: Mapping[str, Any]) -> None:
        found = [_parameter(key, ParameterValue=str(value)) for key, value in parameters.items()]
        for first in range(0, len(found), AT_ONCE):
            self.call("modify_db_parameter_group", DBParameterGroupName=name, Parameters=found[first : first + AT_ONCE])

    def _reset(self, name: str, parameters: set[str]) -> None:
        if parameters:
            gone = [_parameter(key) for key in sorted(parameters)]
            self.call("reset_db_parameter_group", DBParameterGroupName=name, Parameters=gone)

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        self.client.delete_db_parameter_group(DBParameterGroupName=made.id)


def _parameter(name: str, **value: str) -> dict[str, str]:
    return {"ParameterName": name, "ApplyMethod": "pending-reboot", **value}


class DbSubnetGroup(Kind):
    type, service = "AWS::RDS::DBSubnetGroup", "rds"

    def create(self, properties: Properties) -> Made:
        name = properties.get("DBSubnetGroupName") or self.place.name(255, lower=True)
        self.call("create_db_subnet_group", properties.rest(), DBSubnetGroupName=name)
        return Made(name)

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        self.client.delete_db_subnet_group(DBSubnetGroupName=made.id)


class DbInstance(Kind):
    type, service = "AWS::RDS::DBInstance", "rds"
    CLEANUP = "DeleteAutomatedBackups"  # a property of the instance, but said at its deletion
    GROUPS = "VPCSecurityGroups"

    def create(self, properties: Properties) -> Made:
        name = properties.get("DBInstanceIdentifier") or self.place.name(63, lower=True)
        properties.get(self.CLEANUP)
        groups = properties.get(self.GROUPS, [])
        wish = {**properties.rest(), "DBInstanceIdentifier": name, "VpcSecurityGroupIds": groups}
        made = self._made(self.call("create_db_instance", wish)["DBInstance"])
        for group in log_groups(made.id, properties):
            self.place.logs.write(self.place.region, group)
        return made

    def _made(self, found: Mapping[str, Any]) -> Made:
        place = {"Endpoint.Address": found["Endpoint"]["Address"], "Endpoint.Port": str(found["Endpoint"]["Port"])}
        ids = {"DBInstanceArn": found["DBInstanceArn"], "DbiResourceId": found["DbiResourceId"]}
        return Made(found["DBInstanceIdentifier"], {**place, **ids})

    def update(self, made: Made, properties: Properties, before: Mapping[str, Any]) -> Made:
        """By a call that takes what has changed."""
        changed = {name: value for name, value in properties.rest().items() if before.get(name) != value}
        wish = {"DBInstanceIdentifier": made.id, "ApplyImmediately": True, **changed}
        return self._made(self.call("modify_db_instance", wish)["DBInstance"])

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        self._delete(made, properties, SkipFinalSnapshot=True)

    def snapshot(self, made: Made, properties: Mapping[str, Any]) -> None:
        kept = f"{self.place.stack}-snapshot-{self.place.name(30, stack=False, lower=True)}"
        self._delete(made, properties, SkipFinalSnapshot=False, FinalDBSnapshotIdentifier=kept)

    def _delete(self, made: Made, properties: Mapping[str, Any], **how: Any) -> None:
        cleanup = {self.CLEANUP: properties.get(self.CLEANUP, True)}
        self.call("delete_db_instance", cleanup, DBInstanceIdentifier=made.id, **how)
        for group in log_groups(made.id, properties):
            self.place.logs.write_late(self.place.region, group)


def log_groups(id: str, properties: Mapping[str, Any]) -> list[str]:
    """What RDS itself writes; its agent on the instance, for all instances, to a group of one name."""
    exported = [f"/aws/rds/instance/{id}/{name}" for name in properties.get("EnableCloudwatchLogsExports", [])]
    return [*exported, *(["RDSOSMetrics"] if int(properties.get("MonitoringInterval", 0)) else [])]
