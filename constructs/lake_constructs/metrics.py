"""The metrics by which a lake is watched, and the right to report them."""

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_iam as iam

NAMESPACE = "Lake"


def report_metrics() -> iam.PolicyStatement:
    """CloudWatch knows no finer resource than the namespace."""
    return iam.PolicyStatement(
        actions=["cloudwatch:PutMetricData"],
        resources=["*"],
        conditions={"StringEquals": {"cloudwatch:namespace": NAMESPACE}},
    )


def reported(environment: str, name: str) -> cloudwatch.Metric:
    """One of those that report_freshness.py sends every minute: ReportAge, Lag, StoppedTables."""
    return cloudwatch.Metric(
        namespace=NAMESPACE,
        metric_name=name,
        dimensions_map={"Environment": environment},
        statistic="Maximum",
        period=Duration.minutes(1),
    )


def emr(cluster: str, name: str) -> cloudwatch.Metric:
    """One of the cluster's own."""
    return cloudwatch.Metric(
        namespace="AWS/ElasticMapReduce",
        metric_name=name,
        dimensions_map={"JobFlowId": cluster},
        statistic="Minimum",
        period=Duration.minutes(5),
    )


def kafka(cluster: str, name: str) -> cloudwatch.Metric:
    """One of a provisioned cluster."""
    return cloudwatch.Metric(
        namespace="AWS/Kafka",
        metric_name=name,
        dimensions_map={"Cluster Name": cluster},
        statistic="Maximum",
        period=Duration.minutes(5),
    )
