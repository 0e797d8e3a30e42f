"""Budgets."""

from collections.abc import Mapping
from typing import Any

from tests.emulated_account.clients import ACCOUNT
from tests.emulated_account.resources.kind import Kind, Made, Properties


class Budget(Kind):
    type, service = "AWS::Budgets::Budget", "budgets"

    def create(self, properties: Properties) -> Made:
        name = properties["Budget"].get("BudgetName") or self.place.name(100)
        budget = {**properties["Budget"], "BudgetName": name}
        self.call("create_budget", {**properties.rest(), "Budget": budget}, AccountId=ACCOUNT)
        return Made(name)

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        self.client.delete_budget(AccountId=ACCOUNT, BudgetName=made.id)
