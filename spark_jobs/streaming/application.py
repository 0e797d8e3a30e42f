"""The objects that the parts of the streaming job share."""

from typing import NamedTuple

from pyspark.sql import SparkSession

from spark_jobs.hudi.lease import Leases
from spark_jobs.kafka.admin import Broker
from spark_jobs.quarantine.table import Quarantines
from spark_jobs.runtime.status import Progress
from spark_jobs.scheduling.background import Background
from spark_jobs.scheduling.commit_slots import CommitSlots
from spark_jobs.streaming.loop import Loop


class Application(NamedTuple):
    """archives, services: two of them, or a backlog of archives would delay the services, which keep commits
    short."""

    spark: SparkSession
    broker: Broker
    leases: Leases
    quarantines: Quarantines
    progress: Progress
    slots: CommitSlots
    loop: Loop
    archives: Background
    services: Background
