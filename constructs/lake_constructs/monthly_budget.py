"""The monthly budget of a lake."""

from aws_cdk import aws_budgets as budgets
from aws_cdk import aws_sns as sns
from constructs import Construct


class MonthlyBudget(budgets.CfnBudget):
    """Notifies the topic at 80 % spent, and when the forecast exceeds the budget."""

    def __init__(self, scope: Construct, id: str, *, name: str, usd: int, environment: str, topic: sns.ITopic) -> None:
        super().__init__(
            scope,
            id,
            budget=budgets.CfnBudget.BudgetDataProperty(
                budget_name=name,
                budget_type="COST",
                time_unit="MONTHLY",
                budget_limit=budgets.CfnBudget.SpendProperty(amount=usd, unit="USD"),
                cost_filters={"TagKeyValue": [f"user:lake${environment}"]},
            ),
            notifications_with_subscribers=[tell(topic, "ACTUAL", 80), tell(topic, "FORECASTED", 100)],
        )


def tell(topic: sns.ITopic, kind: str, percent: int) -> budgets.CfnBudget.NotificationWithSubscribersProperty:
    return budgets.CfnBudget.NotificationWithSubscribersProperty(
        notification=budgets.CfnBudget.NotificationProperty(
            notification_type=kind, comparison_operator="GREATER_THAN", threshold=percent, threshold_type="PERCENTAGE"
        ),
        subscribers=[budgets.CfnBudget.SubscriberProperty(subscription_type="SNS", address=topic.topic_arn)],
    )
