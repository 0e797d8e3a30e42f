"""The metrics that monitor a lake, and the right to report them."""

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
    by, minute = {"Environment": environment}, Duration.minutes(1)
    return cloudwatch.Metric(
        namespace=NAMESPACE, metric_name=name, dimensions_map=by, statistic="Maximum", period=minute
    )


def emr(cluster: str, name: str) -> cloudwatch.Metric:
    """A metric of the EMR cluster."""
    by = {"JobFlowId": cluster}
    return cloudwatch.Metric(namespace="AWS/ElasticMapReduce", metric_name=name, dimensions_map=by, statistic="Minimum")


def kafka(cluster: str, name: str) -> cloudwatch.Metric:
    """A metric of a provisioned Kafka cluster."""
    by = {"Cluster Name": cluster}
    return cloudwatch.Metric(namespace="AWS/Kafka", metric_name=name, dimensions_map=by, statistic="Maximum")
