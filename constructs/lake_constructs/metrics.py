"""The metrics that monitor a lake, and the right to report them."""

from collections.abc import Mapping

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_iam as iam

NAMESPACE = "Lake"


def report_metrics() -> iam.PolicyStatement:
    """Report metrics. CloudWatch restricts this by namespace only."""
    return iam.PolicyStatement(
        actions=["cloudwatch:PutMetricData"],
        resources=["*"],
        conditions={"StringEquals": {"cloudwatch:namespace": NAMESPACE}},
    )


def reported(environment: str, name: str) -> cloudwatch.Metric:
    """A metric that report_freshness.py sends every minute: ReportAge, Lag or StoppedTables."""
    return _metric(NAMESPACE, name, {"Environment": environment}, "Maximum", minutes=1)


def emr(cluster: str, name: str) -> cloudwatch.Metric:
    """A metric of the EMR cluster."""
    return _metric("AWS/ElasticMapReduce", name, {"JobFlowId": cluster}, "Minimum", minutes=5)


def kafka(cluster: str, name: str) -> cloudwatch.Metric:
    """A metric of a provisioned Kafka cluster."""
    return _metric("AWS/Kafka", name, {"Cluster Name": cluster}, "Maximum", minutes=5)


def _metric(
    namespace: str, name: str, dimensions: Mapping[str, str], statistic: str, *, minutes: int
) -> cloudwatch.Metric:
    return cloudwatch.Metric(
        namespace=namespace,
        metric_name=name,
        dimensions_map=dimensions,
        statistic=statistic,
        period=Duration.minutes(minutes),
    )
