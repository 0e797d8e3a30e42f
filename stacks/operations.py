"""Monitoring: dashboard, alarms, budget."""

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct
from lake_constructs import metrics
from lake_constructs.alarms import BELOW, Alarms
from lake_constructs.lake_dashboard import LakeDashboard
from lake_constructs.monthly_budget import MonthlyBudget
from lake_constructs.postgres_source import PostgresSource

from stacks.connect import ConnectStack
from stacks.part import Blueprint, Part
from stacks.processing import ProcessingStack
from stacks.source import SourceStack

GIB = 1024**3
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
        connect: ConnectStack,
        processing: ProcessingStack,
    ) -> None:
        super().__init__(scope, blueprint)
        environment, name = self.settings, blueprint.name
        self._alarms = Alarms(self, "Alarms", email=environment.operations.email)
        graphs = {
            **(self._watch_source(source.instance) if source.instance else {}),
            **self._watch_capture(connect),
            **self._watch_jobs(processing),
            **(self._watch_brokers(name) if environment.streaming.kind == "provisioned" else {}),
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
        return {"Slot lag and log (bytes)": [lag, logs], "Free storage (bytes)": [free]}

    def _watch_capture(self, connect: ConnectStack) -> Graphs:
        failed, unprepared = connect.failures.tasks, connect.failures.preparations
        ended = "A connector task ended. Read its log, then run: lake connectors restart."
        self._alarms.raise_on("FailedTask", failed, 0, minutes=1, says=ended)
        incomplete = "A table or a user of the source could not be set up. Read the log of source-database."
        self._alarms.raise_on("UnpreparedSource", unprepared, 0, minutes=1, says=incomplete)
        return {"Failed connector tasks, failed preparations of the source": [failed, unprepared]}

    def _watch_jobs(self, processing: ProcessingStack) -> Graphs:
        name = self.settings.name
        lag, age, stopped = (metrics.reported(name, metric) for metric in ("Lag", "ReportAge", "StoppedTables"))
        limit = self.settings.operations.freshness_s
        late = "Changes arrive late. Check whether the job has enough executors."
        self._alarms.raise_on("Freshness", lag, limit, says=late)
        silent = "A job does not report. Check its step and its application: lake jobs status."
        self._alarms.raise_on("SilentJob", age, 120, silence=BAD, says=silent)
        self._alarms.raise_on("StoppedTable", stopped, 0, says="A table is stopped. lake status shows the reason.")
        given_up = "A job ends again and again and is not started any more: see its log, then lake jobs submit."
        self._alarms.raise_on("JobNotRestarted", processing.restarts.failures, 0, minutes=1, says=given_up)
        cluster = processing.cluster_id(self)
        self._alarms.tell_of_failed_steps(cluster)
        return {
            "Freshness (s)": [lag],
            "Silence of the jobs (s), stopped tables": [age, stopped],
            "Applications on the cluster": [metrics.emr(cluster, "AppsRunning")],
        }

    def _watch_brokers(self, cluster: str) -> Graphs:
        offline = metrics.kafka(cluster, "OfflinePartitionsCount")
        self._alarms.raise_on("OfflinePartitions", offline, 0, minutes=1, says="A Kafka partition has no leader.")
        return {"Offline partitions": [offline]}
