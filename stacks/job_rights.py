"""What the Spark jobs may do, on a cluster and on EMR Serverless."""

from collections.abc import Sequence

from aws_cdk import aws_iam as iam
from lake_constructs import kafka_statements
from lake_constructs.catalog import write_tables
from lake_constructs.database_users import read_secret
from lake_constructs.encryption_key import use_key
from lake_constructs.job_code import JobCode
from lake_constructs.kafka import Kafka
from lake_constructs.plugin_bundle import read_asset
from lake_constructs.private_bucket import read_objects, write_below, write_objects

from lake.aws.processing import STREAMER
from lake.aws.rendering import REFINED, SINK, STATE, captured_topics, consumer_group, glue_databases
from lake.aws.source import roles
from lake.aws.streaming import JOBS
from lake.rendering import sales
from stacks.part import Blueprint
from stacks.source import SourceStack
from stacks.storage import EMR_LOGS, StorageStack


class JobRights:
    """may_load: sample rows may be loaded, which only the database of a throw-away lake gets."""

    def __init__(self, blueprint: Blueprint, storage: StorageStack, source: SourceStack, kafka: Kafka) -> None:
        self._blueprint, self._storage, self._source, self._kafka = blueprint, storage, source, kafka
        self._processing = blueprint.environment.processing
        self.may_load = not blueprint.environment.keep_data and not blueprint.environment.source.existing

    def statements(self, own: Sequence[iam.PolicyStatement]) -> list[iam.PolicyStatement]:
        """Of all jobs but those about sales. own: what is added where they run, on_nodes or on_serverless."""
        storage, databases = self._storage, self._blueprint.databases
        catalog = write_tables(list(glue_databases(databases)), replaced=REFINED)
        return [
            *write_objects(storage.silver, "silver", STREAMER, REFINED),
            *write_objects(storage.bronze, "bronze"),
            *([read_objects(storage.bronze, SINK)] if self._reads_sink else []),
            *write_objects(storage.artifacts, STATE),
            *own,
            use_key(storage.key),
            *self._to_kafka(),
            *(catalog if self._processing.metastore == "glue" else []),
        ]

    def _to_kafka(self) -> list[iam.PolicyStatement]:
        """Where there are users, rights are theirs, and a job needs the password of its own."""
        if self._kafka.users:
            return self._kafka.users.read(JOBS)
        groups = [consumer_group(name) for name in self._processing.layered]
        return [
            kafka_statements.connect(self._kafka, produce=False),
            *kafka_statements.read(self._kafka, captured_topics(self._blueprint.databases), groups),
        ]

    def on_nodes(self, code: JobCode) -> list[iam.PolicyStatement]:
        """What start scripts and EMR do on a cluster: they read code and passwords, and archive logs."""
        source = self._source
        return [
            *write_objects(self._storage.logs, EMR_LOGS),
            read_asset(*code.parts),
            *read_secret(source.users[roles.VERIFY], source.secrets_key),
            *(read_secret(source.hashes, source.secrets_key) if source.hashes else []),
            *(read_secret(source.admin, source.admin_key) if self.may_load else []),
        ]

    def on_serverless(self, code: JobCode) -> list[iam.PolicyStatement]:
        """EMR Serverless reads code and archives logs. For passwords it has rights of its own: stacks/source.py."""
        scripts = [url for name, url in code.scripts.items() if name != STREAMER]
        return [
            code.read([code.package, code.pools, *code.jars, *scripts]),
            write_below(self._storage.logs, EMR_LOGS),
        ]

    @property
    def _reads_sink(self) -> bool:
        return self._processing.streamer.source == "s3_sink"

    def on_sales(self) -> list[iam.PolicyStatement]:
        """What the jobs of docs/sales.md may do, in a policy of their own: in one, the CDK would find all too long."""
        groups = [consumer_group(name) for name in sales.GROUPS]
        exchange = [
            kafka_statements.produce(self._kafka),
            *kafka_statements.exchange(self._kafka, sales.TOPICS, groups),
        ]
        return [write_below(self._storage.silver, sales.FOLDER), *([] if self._kafka.users else exchange)]
