"""Monitoring: dashboard, alarms, budget."""

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct
from lake_constructs import metrics
from lake_constructs.alarms import BELOW, Alarms
from lake_constructs.lake_dashboard import LakeDashboard
from lake_constructs.monthly_budget import MonthlyBudget
from lake_constructs.postgres_source import PostgresSource

from lake.aws.source import max_connections
from stacks.capture import CaptureStack
from stacks.part import Blueprint, Part
from stacks.processing import ProcessingStack
from stacks.source import SourceStack
from stacks.spark_cluster import SparkCluster

GIB = 1024**3
FULL = "The disk of a broker fills although it grows: raise streaming.max_volume_gb."
BAD = cloudwatch.TreatMissingData.BREACHING
Graphs = dict[str, list[cloudwatch.IMetric]]


class OperationsStack(Part):
    """The dashboard, the alarms and the budget of a lake."""

    def __init__(
        self,
        scope: Construct,
        blueprint: Blueprint,
        *,
        source: SourceStack,
        connect: CaptureStack,
        processing: ProcessingStack,
    ) -> None:
        super().__init__(scope, blueprint)
        environment, name = self.settings, blueprint.name
        self._alarms = Alarms(self, "Alarms", email=environment.operations.email)
        graphs = {
            **(self._watch_source(source.instance) if source.instance else {}),
            **self._watch_capture(connect),
            **self._watch_vital(connect),
            **self._watch_jobs(processing),
            **self._watch_kafka(environment.kafka),
        }
        LakeDashboard(self, "Dashboard", name=name, graphs=graphs)
        usd, topic = environment.operations.budget_usd, self._alarms.topic
        MonthlyBudget(self, "Budget", usd=usd, environment=environment.name, topic=topic)

    def _watch_source(self, instance: PostgresSource) -> Graphs:
        minutes = Duration.minutes(1)
        lag = instance.metric("OldestReplicationSlotLag", statistic="Maximum", period=minutes)
        logs = instance.metric("TransactionLogsDiskUsage", statistic="Maximum", period=minutes)
        free = instance.metric_free_storage_space(statistic="Minimum", period=minutes)
        slot, disk = self.settings.source.max_slot_wal_gb * GIB, self.settings.source.storage_gb * GIB
        behind = "A replication slot falls behind. Check that its connector runs: lake connectors status."
        self._alarms.raise_on("SlotLag", lag, slot / 4, says=behind)
        grown = "The write-ahead log grows. Find the slot that no connector reads."
        self._alarms.raise_on("WriteAheadLog", logs, slot / 2, says=grown)
        scarce = "Less than a fifth of the disk is free. Enlarge it, or drop an unused slot."
        self._alarms.raise_on("FreeStorage", free, disk / 5, compare=BELOW, says=scarce)
        return {
            "Slot lag and log (bytes)": [lag, logs],
            "Free storage (bytes)": [free],
            **self._watch_load(instance),
        }

    def _watch_load(self, instance: PostgresSource) -> Graphs:
        cpu = instance.metric_cpu_utilization(period=Duration.minutes(1))
        used = instance.metric_database_connections(statistic="Maximum", period=Duration.minutes(1))
        most = max_connections(self.settings.source.instance)
        busy = "The source is busy: look at its Performance Insights; a snapshot may run."
        self._alarms.raise_on("SourceCpu", cpu, 90, minutes=15, says=busy)
        crowded = "The source runs out of connections: see who holds them in pg_stat_activity."
        self._alarms.raise_on("SourceConnections", used, int(most * 0.8), says=crowded)
        return {"CPU of the source (%)": [cpu], "Connections to the source": [used]}

    def _watch_capture(self, connect: CaptureStack) -> Graphs:
        failed, unprepared = connect.failures.tasks, connect.failures.preparations
        ended = "A connector task ended. Read its log, then run: lake connectors restart."
        self._alarms.raise_on("FailedTask", failed, 0, minutes=1, says=ended)
        incomplete = "A table or a user of the source could not be set up. Read the log of source-database."
        self._alarms.raise_on("UnpreparedSource", unprepared, 0, minutes=1, says=incomplete)
        return {"Failed connector tasks, failed preparations of the source": [failed, unprepared]}

    def _watch_vital(self, connect: CaptureStack) -> Graphs:
        for one in connect.vital:
            self._alarms.raise_on(one.id, one.count, 1, minutes=10, compare=BELOW, silence=BAD, says=one.says)
        return {connect.title: [one.count for one in connect.vital]} if connect.vital else {}

    def _watch_jobs(self, processing: ProcessingStack) -> Graphs:
        name = self.settings.name
        lag, age, stopped = (metrics.reported(name, metric) for metric in ("Lag", "ReportAge", "StoppedTables"))
        limit = self.settings.operations.freshness_s
        late = "Changes arrive late. Check whether the job has enough executors."
        self._alarms.raise_on("Freshness", lag, limit, says=late)
        self._watch_silence(age, processing)
        self._alarms.raise_on("StoppedTable", stopped, 0, says="A table is stopped. lake status shows the reason.")
        bad = metrics.reported(name, "QuarantinedMessages")
        self._alarms.raise_on("Quarantined", bad, 0, says="Bad messages were set aside: lake quarantine list.")
        return {
            "Freshness (s)": [lag],
            "Silence of the jobs (s), stopped tables, bad messages": [age, stopped, bad],
            **processing.spark.watch(self, self._alarms),
        }

    def _watch_silence(self, age: cloudwatch.Metric, processing: ProcessingStack) -> None:
        """Ten minutes are more than the first start of a job takes.

        A cluster that ends itself is silent once its jobs were stopped, and after its end: that is no failure.
        """
        says = "A job does not report. Check its step and its application: lake jobs status."
        if isinstance(processing.spark, SparkCluster) and self.settings.processing.idle_minutes:
            working = metrics.while_it_runs(age, processing.spark.id_elsewhere(self))
            self._alarms.raise_on("SilentJob", working, 120, minutes=2, says=says)
        else:
            self._alarms.raise_on("SilentJob", age, 120, minutes=10, silence=BAD, says=says)

    def _watch_kafka(self, cluster: str) -> Graphs:
        provisioned = self.settings.streaming.kind == "provisioned"
        return self._watch_brokers(cluster) if provisioned else self._watch_topics(cluster)

    def _watch_brokers(self, cluster: str) -> Graphs:
        brokers = self.settings.brokers
        offline = metrics.kafka(cluster, "OfflinePartitionsCount")
        disks = metrics.of_brokers(cluster, "KafkaDataLogsDiskUsed", brokers, "MAX")
        late = metrics.of_brokers(cluster, "UnderReplicatedPartitions", brokers, "SUM")
        self._alarms.raise_on("OfflinePartitions", offline, 0, minutes=1, says="A Kafka partition has no leader.")
        existing = self.settings.streaming.existing
        full = "The disk of a broker fills: enlarge it." if existing else FULL
        behind = "Copies of partitions fall behind: a broker is down or overloaded. See the brokers in MSK."
        for number, (disk, copies) in enumerate(zip(disks, late, strict=True), 1):
            self._alarms.raise_on(f"BrokerDisk{number}", disk, 85, minutes=1, says=full)
            self._alarms.raise_on(f"UnderReplicated{number}", copies, 0, minutes=6, says=behind)
        return {"Offline partitions": [offline], "Disks of brokers (%), late copies": [*disks, *late]}

    def _watch_topics(self, cluster: str) -> Graphs:
        """MSK Serverless has no brokers to look at. Debezium writes a heartbeat a second."""
        beats = {
            one.database: metrics.of_topic(cluster, one.heartbeat_topic, "MessagesInPerSec")
            for one in self.blueprint.databases
        }
        for database, beat in beats.items():
            says = f"Nothing was captured from {database} for 15 minutes: see lake connectors status."
            self._alarms.raise_on(
                f"NoHeartbeat-{database}", beat, 0.01, minutes=3, compare=BELOW, silence=BAD, says=says
            )
        return {"Heartbeats a second": list(beats.values())}
