"""Stacks, events and change sets as CloudFormation's API shows them."""

from typing import Any

from tests.emulated_account.cloudformation.stack import ChangeSet, Deployed, Event, Stack

Shown = dict[str, Any]


def stack(one: Stack) -> Shown:
    return {
        **_name(one),
        "CreationTime": one.created,
        "StackStatus": one.status,
        "StackStatusReason": one.reason,
        "Parameters": _parameters(one.parameters),
        "Outputs": one.outputs,
        "Tags": one.tags,
        "Capabilities": one.capabilities,
        "DisableRollback": False,
        "EnableTerminationProtection": one.protected,
        "RollbackConfiguration": {},
        "NotificationARNs": [],
    }


def event(of: Stack, one: Event) -> Shown:
    return {
        **_name(of),
        "EventId": one.id,
        "LogicalResourceId": one.logical_id,
        "PhysicalResourceId": one.physical_id,
        "ResourceType": one.type,
        "Timestamp": one.time,
        "ResourceStatus": one.status,
        "ResourceStatusReason": one.reason or None,
    }


def resource(of: Stack, one: Deployed) -> Shown:
    return {
        **_name(of),
        "LogicalResourceId": one.declared.id,
        "PhysicalResourceId": one.physical_id,
        "ResourceType": one.declared.type,
        "Timestamp": of.events[-1].time,
        "LastUpdatedTimestamp": of.events[-1].time,
        "ResourceStatus": "CREATE_COMPLETE",
    }


def change_set(of: Stack, one: ChangeSet) -> Shown:
    return {
        **_name(of),
        "ChangeSetName": one.name,
        "ChangeSetId": one.id,
        "CreationTime": one.time,
        "ExecutionStatus": one.execution,
        "Status": one.status,
        "StatusReason": one.reason,
        "Parameters": _parameters(one.parameters),
        "Tags": one.tags,
        "Capabilities": one.capabilities,
        "Changes": one.changes,
    }


def _name(of: Stack) -> Shown:
    return {"StackName": of.name, "StackId": of.id}


def _parameters(values: dict[str, str]) -> list[Shown]:
    return [{"ParameterKey": name, "ParameterValue": value} for name, value in values.items()]
