"""Alarms, and the topic that they notify."""

from aws_cdk import Aws, RemovalPolicy
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from constructs import Construct

from lake_constructs.encryption_key import EncryptionKey

SENDERS = ("cloudwatch.amazonaws.com", "events.amazonaws.com", "budgets.amazonaws.com")
ABOVE = cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD
BELOW = cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD


class Alarms(Construct):
    """One topic for everything that needs a person's attention."""

    def __init__(self, scope: Construct, id: str, *, email: str | None) -> None:
        super().__init__(scope, id)
        key = EncryptionKey(self, "Key", purpose="alarms", removal_policy=RemovalPolicy.DESTROY, services=SENDERS)
        self.topic = sns.Topic(self, "Topic", master_key=key, enforce_ssl=True)
        self.topic.add_to_resource_policy(
            iam.PolicyStatement(
                principals=[iam.ServicePrincipal(sender) for sender in SENDERS],
                actions=["sns:Publish"],
                resources=[self.topic.topic_arn],
                conditions={"StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID}},
            )
        )
        if email:
            sns.Subscription(self, "Email", topic=self.topic, protocol=sns.SubscriptionProtocol.EMAIL, endpoint=email)

    def raise_on(
        self,
        id: str,
        metric: cloudwatch.IMetric,
        limit: float,
        *,
        minutes: int = 5,
        compare: cloudwatch.ComparisonOperator = ABOVE,
        silence: cloudwatch.TreatMissingData = cloudwatch.TreatMissingData.NOT_BREACHING,
        says: str,
    ) -> None:
        """An alarm when the metric is beyond the limit for `minutes` periods. says: its text, with what to do."""
        alarm = cloudwatch.Alarm(
            self,
            id,
            metric=metric,
            threshold=limit,
            comparison_operator=compare,
            evaluation_periods=minutes,
            alarm_description=says,
            treat_missing_data=silence,
        )
        alarm.add_alarm_action(actions.SnsAction(self.topic))
        alarm.add_ok_action(actions.SnsAction(self.topic))

    def tell_of_failed_steps(self, cluster: str) -> None:
        """Notify of failed steps. A step fails if its job could not start; a later end shows in ReportAge."""
        failed = events.EventPattern(
            source=["aws.emr"],
            detail_type=["EMR Step Status Change"],
            detail={"state": ["FAILED"], "clusterId": [cluster]},
        )
        events.Rule(self, "FailedStep", event_pattern=failed, targets=[targets.SnsTopic(self.topic)])

    def tell_of_a_failed_cluster(self, cluster: str) -> None:
        """Notify of a cluster that ended with errors: all of its jobs ended with it."""
        failed = events.EventPattern(
            source=["aws.emr"],
            detail_type=["EMR Cluster State Change"],
            detail={"state": ["TERMINATED_WITH_ERRORS"], "clusterId": [cluster]},
        )
        events.Rule(self, "FailedCluster", event_pattern=failed, targets=[targets.SnsTopic(self.topic)])

    def tell_of_failed_runs(self, application: str) -> None:
        """Notify of job runs of EMR Serverless that it does not start again."""
        failed = events.EventPattern(
            source=["aws.emr-serverless"],
            detail_type=["EMR Serverless Job Run State Change"],
            detail={"state": ["FAILED"], "applicationId": [application]},
        )
        events.Rule(self, "FailedRun", event_pattern=failed, targets=[targets.SnsTopic(self.topic)])
