"""Steps of EMR, each in a parameter of Systems Manager."""

from collections.abc import Mapping
from typing import Any

from aws_cdk import Stack
from aws_cdk import aws_ssm as ssm
from constructs import Construct


class ReadySteps(Construct):
    """steps: by the name of their parameter, each as the API of EMR takes it."""

    def __init__(self, scope: Construct, id: str, *, steps: Mapping[str, Mapping[str, Any]]) -> None:
        super().__init__(scope, id)
        for name, step in steps.items():
            ssm.CfnParameter(
                self,
                name.rpartition("/")[2],
                name=name,
                type="String",
                tier="Intelligent-Tiering",  # up to 4 KiB are free
                value=Stack.of(self).to_json_string(step),
            )
