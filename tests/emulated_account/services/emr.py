"""What moto lacks of EMR: how a cluster grows, when it ends by itself, and the list of security configurations."""

from typing import Any

from moto.backends import get_backend

from tests.emulated_account.clients import ACCOUNT
from tests.emulated_account.services.service import Answer, Service


class Emr(Service):
    name, signed = "emr", "elasticmapreduce"

    def __init__(self, clients: Any) -> None:
        super().__init__(clients)
        self.scaling: dict[str, Answer] = {}  # by cluster
        self.termination: dict[str, Answer] = {}

    def put_managed_scaling_policy(self, _: str, wish: Answer) -> Answer:
        self.scaling[wish["ClusterId"]] = wish["ManagedScalingPolicy"]
        return {}

    def get_managed_scaling_policy(self, _: str, wish: Answer) -> Answer:
        found = self.scaling.get(wish["ClusterId"])
        return {"ManagedScalingPolicy": found} if found else {}

    def put_auto_termination_policy(self, _: str, wish: Answer) -> Answer:
        self.termination[wish["ClusterId"]] = wish["AutoTerminationPolicy"]
        return {}

    def get_auto_termination_policy(self, _: str, wish: Answer) -> Answer:
        found = self.termination.get(wish["ClusterId"])
        return {"AutoTerminationPolicy": found} if found else {}

    def list_security_configurations(self, region: str, _: Answer) -> Answer:
        found = get_backend("emr")[ACCOUNT][region].security_configurations.values()
        return {"SecurityConfigurations": [{"Name": one.name} for one in found]}
