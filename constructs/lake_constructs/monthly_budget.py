"""The monthly budget of a lake."""

from typing import Any

from aws_cdk import aws_budgets as budgets
from aws_cdk import aws_sns as sns
from constructs import Construct


class MonthlyBudget(budgets.CfnBudget):
    """Notifies the topic at 80 % spent, and when the forecast exceeds the budget. Without a name it can be replaced."""

    def __init__(self, scope: Construct, id: str, *, usd: int, environment: str, topic: sns.ITopic) -> None:
        budget = {
            "budgetType": "COST",
            "timeUnit": "MONTHLY",
            "budgetLimit": {"amount": usd, "unit": "USD"},
            "costFilters": {"TagKeyValue": [f"user:lake${environment}"]},
        }
        notifications = [notification(topic, "ACTUAL", 80), notification(topic, "FORECASTED", 100)]
        super().__init__(scope, id, budget=budget, notifications_with_subscribers=notifications)


def notification(topic: sns.ITopic, kind: str, percent: int) -> dict[str, Any]:
    limit = {"comparisonOperator": "GREATER_THAN", "threshold": percent, "thresholdType": "PERCENTAGE"}
    subscriber = {"subscriptionType": "SNS", "address": topic.topic_arn}
    return {"notification": {"notificationType": kind, **limit}, "subscribers": [subscriber]}
