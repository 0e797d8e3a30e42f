"""The metrics that monitor a lake, and the right to report them."""

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_iam as iam

NAMESPACE = "Lake"
PER_ALARM = 10


def report_metrics() -> iam.PolicyStatement:
    """Report metrics. CloudWatch restricts this by namespace only."""
    return iam.PolicyStatement(
        actions=["cloudwatch:PutMetricData"],
        resources=["*"],
        conditions={"StringEquals": {"cloudwatch:namespace": NAMESPACE}},
    )


def reported(environment: str, name: str) -> cloudwatch.Metric:
    """A metric that report_freshness.py sends every minute: ReportAge, Lag, StoppedTables or QuarantinedMessages."""
    by, minute = {"Environment": environment}, Duration.minutes(1)
    return cloudwatch.Metric(
        namespace=NAMESPACE, metric_name=name, dimensions_map=by, statistic="Maximum", period=minute
    )


def emr(cluster: str, name: str) -> cloudwatch.Metric:
    """A metric of the EMR cluster."""
    by = {"JobFlowId": cluster}
    return cloudwatch.Metric(namespace="AWS/ElasticMapReduce", metric_name=name, dimensions_map=by, statistic="Minimum")


def job_runs(application: str, name: str) -> cloudwatch.Metric:
    """A metric of the application on EMR Serverless."""
    by = {"ApplicationId": application}
    return cloudwatch.Metric(namespace="AWS/EMRServerless", metric_name=name, dimensions_map=by, statistic="Maximum")


def kafka(cluster: str, name: str) -> cloudwatch.Metric:
    """A metric of a provisioned Kafka cluster."""
    return _kafka(name, {"Cluster Name": cluster})


def of_brokers(cluster: str, name: str, brokers: int, function: str) -> list[cloudwatch.MathExpression]:
    """MAX or SUM of a metric over the brokers; an alarm may use ten metrics, so that more brokers make more of them."""
    metrics = {
        f"{name.lower()}{id}": _kafka(name, {"Cluster Name": cluster, "Broker ID": str(id)})
        for id in range(1, brokers + 1)
    }
    groups = [list(metrics)[first : first + PER_ALARM] for first in range(0, brokers, PER_ALARM)]
    return [
        cloudwatch.MathExpression(
            expression=f"{function}([{','.join(group)}])",
            using_metrics={id: metrics[id] for id in group},
            label=f"{name} of brokers",
            period=Duration.minutes(5),
        )
        for group in groups
    ]


def of_topic(cluster: str, topic: str, name: str) -> cloudwatch.Metric:
    """A metric of one topic on MSK Serverless."""
    return _kafka(name, {"Cluster Name": cluster, "Topic": topic})


def running_pods(cluster: str, namespace: str, service: str) -> cloudwatch.Metric:
    """The number of pods that serve a Kubernetes service, by Container Insights."""
    by = {"ClusterName": cluster, "Namespace": namespace, "Service": service}
    name, minute = "service_number_of_running_pods", Duration.minutes(1)
    return cloudwatch.Metric(
        namespace="ContainerInsights", metric_name=name, dimensions_map=by, statistic="Minimum", period=minute
    )


def running_tasks(connector: str) -> cloudwatch.Metric:
    """How many tasks of a connector MSK Connect runs."""
    by, minute = {"ConnectorName": connector}, Duration.minutes(1)
    return cloudwatch.Metric(
        namespace="AWS/KafkaConnect",
        metric_name="RunningTaskCount",
        dimensions_map=by,
        statistic="Minimum",
        period=minute,
    )


def while_it_runs(metric: cloudwatch.Metric, cluster: str) -> cloudwatch.MathExpression:
    """The metric while the EMR cluster runs an application, else 0. EMR measures every five minutes."""
    minutes = Duration.minutes(5)
    return cloudwatch.MathExpression(
        expression="IF(FILL(apps, 0) > 0, metric, 0)",
        using_metrics={"apps": emr(cluster, "AppsRunning"), "metric": metric.with_(period=minutes)},
        period=minutes,
    )


def _kafka(name: str, by: dict[str, str]) -> cloudwatch.Metric:
    return cloudwatch.Metric(namespace="AWS/Kafka", metric_name=name, dimensions_map=by, statistic="Maximum")
