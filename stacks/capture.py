"""The capture side as the other stacks see it, whoever runs Connect."""

from collections.abc import Sequence
from dataclasses import dataclass

from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_ec2 as ec2
from lake_constructs.container_logs import CountedFailures

from stacks.part import Part


@dataclass(frozen=True)
class Vital:
    """A count that must not fall below one. id: of its alarm; says: its text."""

    id: str
    count: cloudwatch.IMetric
    says: str


class CaptureStack(Part):
    """registry_group: who may connect to the registry, by rules of the callers; registry_url: its address for them.

    failures: counted in logs. vital: what the alarms watch, under this title.
    """

    part = "connect"
    registry_group: ec2.ISecurityGroup
    registry_url: str
    failures: CountedFailures
    vital: Sequence[Vital]
    title: str
