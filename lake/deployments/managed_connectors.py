"""The connectors of a lake on MSK Connect, through the API of AWS: no program of ours stands between."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from lake.aws.environment import AwsEnvironment
from lake.aws.managed_connect import connector_name
from lake.config.definition import Database
from lake.config.errors import BadInput, LakeError
from lake.config.report import Report
from lake.deployments.account import Account, wait
from lake.deployments.aws_connectors import connectors
from lake.deployments.connectors import Ask

SERVICE = "kafkaconnect"
DONE_WITHIN_S = 900.0
OPERATIONS = {"restart": "RESTART", "pause": "PAUSE", "resume": "RESUME"}  # by the verb of the command
# How many tasks are in a state; MSK Connect says it in metrics only.
COUNTS = {"RUNNING": "RunningTaskCount", "FAILED": "ErroredTaskCount"}
RECENT = timedelta(minutes=5)


def managed_connectors(
    account: Account, environment: AwsEnvironment, databases: Sequence[Database], report: Report
) -> Ask:
    """Settings come with a deployment alone: CloudFormation compares and changes them."""
    names = connectors(environment, databases)

    def ask(verb: str) -> dict[str, Any]:
        if verb == "status":
            return {name: _status(account, connector_name(environment.name, name)) for name in names}
        if verb in OPERATIONS:
            found = {name: _arn(account, connector_name(environment.name, name)) for name in names}
            _check(found, environment)
            return {name: _operate(account, verb, name, arn, report) for name, arn in found.items()}
        where = f"environments/{environment.name}.yaml, key connect.kind"
        now = f"run: npx cdk diff -c env={environment.name}, or npx cdk deploy --all -c env={environment.name}"
        raise BadInput("MSK Connect takes the settings of connectors from a deployment", where, now)

    return ask


def _arn(account: Account, name: str) -> str:
    """Empty without a connector of this name."""
    every = account.pages(SERVICE, "list_connectors", "connectors", connectorNamePrefix=name)
    return next((str(one["connectorArn"]) for one in every if one["connectorName"] == name), "")


def _check(found: dict[str, str], environment: AwsEnvironment) -> None:
    for name, arn in found.items():
        if not arn:
            now = f"run: npx cdk deploy --all -c env={environment.name}"
            raise BadInput(f"no connector '{name}' is deployed", f"lake-{environment.name}", now)


def _status(account: Account, name: str) -> dict[str, Any]:
    """As Connect itself gives it: {"connector": {"state"}, "tasks": [{"id", "state"}]}; {} without a connector."""
    arn = _arn(account, name)
    if not arn:
        return {}
    one = account.client(SERVICE).describe_connector(connectorArn=arn)
    why = {"trace": one["stateDescription"]["message"]} if one.get("stateDescription") else {}
    states = [state for state, metric in COUNTS.items() for _ in range(_count(account, name, metric))]
    tasks = [{"id": id, "state": state} for id, state in enumerate(states)]
    return {"connector": {"state": one["connectorState"], **why}, "tasks": tasks}


def _count(account: Account, connector: str, metric: str) -> int:
    """The newest value of a metric of a connector; 0 without any."""
    now = datetime.now(UTC)
    found = account.client("cloudwatch").get_metric_statistics(
        Namespace="AWS/KafkaConnect",
        MetricName=metric,
        Dimensions=[{"Name": "ConnectorName", "Value": connector}],
        StartTime=now - RECENT,
        EndTime=now,
        Period=60,
        Statistics=["Maximum"],
    )["Datapoints"]
    return round(max(found, key=lambda point: point["Timestamp"])["Maximum"]) if found else 0


def _operate(account: Account, verb: str, name: str, arn: str, report: Report) -> dict[str, Any]:
    """Returns once the operation is complete."""
    client = account.client(SERVICE)
    operation = getattr(client, f"{verb}_connector")(connectorArn=arn)["connectorOperationArn"]
    report(f"{verb}: waiting for MSK Connect, which takes some minutes for {name}")

    def state() -> str:
        found = client.describe_connector_operation(connectorOperationArn=operation)
        return str(found["connectorOperationState"])

    def done() -> bool:
        now = state()
        if now == f"{OPERATIONS[verb]}_FAILED":
            raise LakeError(f"{verb} of {name} failed", arn, "see: lake connectors status, and lake logs kafka-connect")
        return now == f"{OPERATIONS[verb]}_COMPLETE"

    wait(done, f"{verb} of {name}", DONE_WITHIN_S)
    return {}
