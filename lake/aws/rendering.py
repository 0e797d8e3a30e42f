"""What the stacks install, rendered from the definition: topics, connectors and the pipeline file of each job.

Addresses are known only at deployment, so they are CDK tokens (connectors) or @NAMES@ (pipeline files). The start
script of a job fills in its pipeline file; the job of HoodieStreamer fills in its own files.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from lake.aws.environment import MIN_INSYNC_REPLICAS, REPLICATION_FACTOR, AwsEnvironment
from lake.aws.processing import STREAMER
from lake.aws.streaming import secret_name
from lake.config.definition import Database, Table
from lake.config.environment import CONNECT_OPERATOR as CONNECT_OPERATOR
from lake.config.environment import Environment, Kafka
from lake.config.errors import BadInput
from lake.config.refinement import REFINED as REFINED
from lake.rendering import sales
from lake.rendering.bronze_table import BRONZE, has_bronze_tables
from lake.rendering.bronze_table import SERDES as SERDES
from lake.rendering.bronze_table import avro_schema as avro_schema
from lake.rendering.bronze_table import bronze_database as bronze_database
from lake.rendering.bronze_table import columns as columns
from lake.rendering.bronze_table import partition_keys as partition_keys
from lake.rendering.bronze_table import projection as projection
from lake.rendering.connector import REGISTRY_WRITER as REGISTRY_WRITER
from lake.rendering.connector import registry_login, render
from lake.rendering.kafka_acls import INTERNAL_TOPICS as INTERNAL_TOPICS
from lake.rendering.kafka_acls import JOBS, Acl, of_connect, of_jobs, of_sales
from lake.rendering.kafka_login import IAM_LOGIN, by_secret, for_spark
from lake.rendering.kafka_login import consumer_group as consumer_group
from lake.rendering.message_form import in_form
from lake.rendering.pipeline import pipeline
from lake.rendering.streamer import Places, hive_database
from lake.rendering.topics import LARGEST_MESSAGE, Topic, topics
from lake.sources.connector import of_columns, source_values, template
from lake.sources.engine import Address as Address
from lake.sources.engines import engine_of
from lake.sources.postgres.roles import REGISTRY_DATABASE as REGISTRY_DATABASE

# MSK Serverless lets a topic set these only, and messages of 8 MiB at most.
SERVERLESS_SETTINGS = ("cleanup.policy", "max.message.bytes", "retention.ms")
SERVERLESS_LARGEST_MESSAGE = 8 * 1024 * 1024
STATE = "state"  # the prefix, in the bucket of artifacts, of the checkpoints and the status of jobs
# the prefix, in the same bucket, of requests to Kafka Connect (requests/) and of its answers (answers/)
REQUESTS = "connectors"
SINK_TEMPLATE = Path("connector_configs") / "sink_kafka_s3.json"
SINK = "s3-sink"  # the prefix, in the bucket of bronze, of the archive of Connect
WRITER_PASSWORD = "${secrets:registry:password}"  # as the chart of Connect names the secret
HASH_SECRET = "${secrets:hashes:password}"  # the same
NOW = "deploy the databases of another engine as another environment"
HIVE_URIS = "hoodie.datasource.hive_sync.metastore.uris"


def has_hashes(databases: list[Database]) -> bool:
    """True if a definition hashes columns, which needs a key."""
    return any(table.hashed for database in databases for table in database.tables)


def table_topics(databases: list[Database]) -> list[str]:
    """The topics that hold rows, one per captured table."""
    return [table.topic(database.database) for database in databases for table in database.tables]


def captured_topics(databases: list[Database]) -> list[str]:
    """The topics that hold rows, as patterns of IAM: a policy has no room for the name of each (AWS-4)."""
    return [f"{database.topic_prefix}.*" for database in databases]


def written_topics(databases: list[Database]) -> list[str]:
    """All topics that the capture connectors write, as patterns of IAM."""
    return [*captured_topics(databases), *(database.heartbeat_topic for database in databases)]


def glue_databases(databases: list[Database]) -> dict[str, str]:
    """The databases of the catalog and the folders of their tables.

    moma_cow of silver, moma_cow_streamer of HoodieStreamer, moma_quarantine of messages in quarantine,
    refined of lake refine, moma_bronze of archives that are tables; these name their own folders.
    """
    types = sorted({(one.database, kind) for one in databases for table in one.tables for kind in table.types})
    by_name = {one.database: one for one in databases}
    silver = {by_name[name].hive_database(kind): f"silver/{by_name[name].folder}" for name, kind in types}
    aside = {f"{one.stored_as}_quarantine": f"silver/{one.folder}" for one in databases}
    streamed = {hive_database(by_name[name], kind): f"{STREAMER}/{by_name[name].folder}" for name, kind in types}
    bronze = {bronze_database(one): BRONZE for one in databases if has_bronze_tables(one)}
    return {**silver, **streamed, **aside, **bronze, REFINED: REFINED}


def broker_settings(environment: AwsEnvironment) -> dict[str, str]:
    """The defaults of a provisioned cluster."""
    # MSK's own default lets every user do what no ACL speaks of.
    strict = {"allow.everyone.if.no.acl.found": "false"} if environment.streaming.users else {}
    return {
        **strict,
        "auto.create.topics.enable": "false",
        "default.replication.factor": str(REPLICATION_FACTOR),
        "min.insync.replicas": str(MIN_INSYNC_REPLICAS),
        "unclean.leader.election.enable": "false",
        "log.retention.hours": str(environment.streaming.retention_hours),
        "message.max.bytes": str(LARGEST_MESSAGE),
        "replica.fetch.max.bytes": str(LARGEST_MESSAGE),
    }


def source_connector(
    root: Path,
    database: Database,
    environment: AwsEnvironment,
    *,
    address: Address,
    registry: str,
    tls: Mapping[str, str],
) -> dict[str, str]:
    """The connector that captures one database: the template of the local lake, TLS, and topics that it creates."""
    for table in database.tables:
        _refuse_without_key(database, table)
    values = source_values(database, address, registry, _largest_message(environment))
    settings = in_form(render(template(root, database), values), database, registry_login(WRITER_PASSWORD))
    return {**settings, **tls, **of_columns(database, HASH_SECRET), **_topic_creation(database, environment, root)}


def _refuse_without_key(database: Database, table: Table) -> None:
    """Nothing there reads its rows again once it joins a capture that runs (ADR 48)."""
    if table.without_key:
        where = f"databases/{database.database}.yaml, key tables.{table.full_name}.without_key"
        now = "give it a primary key, or leave the table out"
        raise BadInput("tables without a key are captured by a lake on one machine only", where, now)


def sink_connector(
    root: Path, database: Database, *, bucket: str, region: str, registry: str
) -> tuple[str, dict[str, str]]:
    """Name and settings of the connector that archives one database's topics on S3."""
    name = sink_name(database)
    if database.format == "json":
        where = f"databases/{database.database}.yaml, key format"
        raise BadInput("the S3 sink of Connect reads Avro, not JSON", where, "leave connect.s3_sink out")
    values = {
        "CONNECTOR": name,
        "TOPICS": ",".join(table_topics([database])),
        "BUCKET": bucket,
        "REGION": region,
        "FOLDER": SINK,
        "REGISTRY_URL": f"{registry}/apis/registry/v2",
    }
    return name, render(root / SINK_TEMPLATE, values)


def sink_name(database: Database) -> str:
    return f"sink_s3_{database.topic_prefix}"


def source_sql(databases: list[Database]) -> dict[str, Any]:
    """The scripts with which the chart prepares the server and its databases. There is one server."""
    scripts = engine_of(databases[0]).scripts
    if scripts is None or len({one.engine for one in databases}) > 1:
        raise BadInput("the databases are not of one engine that the chart can prepare", "databases/, key engine", NOW)
    return scripts(databases)


def _topic_creation(database: Database, environment: AwsEnvironment, root: Path) -> dict[str, str]:
    *tables, heartbeat = topics(database, local_form(environment, root))
    default, kept = "topic.creation.default", _allowed(tables[0].config, environment)
    wide = {f"partitions{count}": names for count, names in _of_other_counts(tables, environment).items()}
    return {
        f"{default}.replication.factor": str(REPLICATION_FACTOR),
        f"{default}.partitions": str(environment.streaming.partitions),
        **{f"{default}.{key}": value for key, value in kept.items()},
        "topic.creation.groups": ",".join(["heartbeat", *wide]),
        "topic.creation.heartbeat.include": _expression([heartbeat.name]),
        "topic.creation.heartbeat.retention.ms": heartbeat.config["retention.ms"],
        **{f"topic.creation.{group}.include": _expression(names) for group, names in wide.items()},
        **{f"topic.creation.{group}.partitions": group.removeprefix("partitions") for group in wide},
    }


def _of_other_counts(tables: list[Topic], environment: AwsEnvironment) -> dict[int, list[str]]:
    """The topics whose number of partitions is not that of the environment, by that number."""
    found: dict[int, list[str]] = {}
    for topic in tables:
        if topic.partitions != environment.streaming.partitions:
            found.setdefault(topic.partitions, []).append(topic.name)
    return found


def _expression(names: list[str]) -> str:
    """Regular expressions, as Connect takes the names of topics."""
    return ",".join(name.replace(".", "[.]") for name in names)


def _largest_message(environment: AwsEnvironment) -> int:
    return LARGEST_MESSAGE if environment.streaming.kind == "provisioned" else SERVERLESS_LARGEST_MESSAGE


def _allowed(config: dict[str, str], environment: AwsEnvironment) -> dict[str, str]:
    if environment.streaming.kind == "provisioned":
        return config
    limited = {**config, "max.message.bytes": str(_largest_message(environment))}
    return {key: limited[key] for key in SERVERLESS_SETTINGS}


def job_pipeline(databases: list[Database], environment: AwsEnvironment, root: Path, name: str) -> dict[str, Any]:
    """The pipeline file of one job: the local one with the addresses of AWS."""
    content = pipeline(databases, local_form(environment, root))
    content.pop("sources", None)  # the environment names the server
    state = f"s3://@ARTIFACTS@/{STATE}"
    return {
        **content,
        "kafka": for_spark(
            {"bootstrap.servers": "@BROKERS@", "group.id": consumer_group(name), **job_login(environment)}
        ),
        "registry": "@REGISTRY@/apis/ccompat/v7",
        "status": f"{state}/{name}/status.json",  # one file per job: two jobs must not write the same
        "requests": f"{state}/{name}/requests",
        "bronze": {**content["bronze"], "path": "s3://@BRONZE@/bronze"},
        "metastore": "",
        "quarantine": {name: _target(target, environment.name) for name, target in content["quarantine"].items()},
        "tables": [
            {**table, "targets": [_target(target, environment.name) for target in table["targets"]]}
            for table in content["tables"]
        ],
    }


def job_login(environment: AwsEnvironment) -> dict[str, str]:
    """How the jobs log in at MSK."""
    if environment.streaming.users:
        return by_secret(environment.region, secret_name(environment.name, JOBS))
    return IAM_LOGIN


def rights_of_users(databases: list[Database], environment: AwsEnvironment) -> list[dict[str, Any]]:
    """What the users of Kafka may do, as the chart of Connect takes it, whose Job gives them these rights."""
    processing = environment.processing
    sinks = [sink_name(one) for one in databases] if environment.connect.s3_sink else []
    acls = [
        *of_connect(databases, environment.connect_group, sinks),
        *of_jobs(databases, [consumer_group(name) for name in processing.layered]),
        *(of_sales(sales.TOPICS, [consumer_group(name) for name in sales.GROUPS]) if processing.sales else []),
    ]
    return rights(acls)


def rights(acls: Iterable[Acl]) -> list[dict[str, Any]]:
    """One entry for all names on which a user may do the same: kafka-acls.sh is a JVM, and takes them at once."""
    alike: dict[tuple[str, str, tuple[str, ...], bool], list[str]] = {}
    for one in acls:
        alike.setdefault((one.user, one.kind, one.operations, one.prefixed), []).append(one.name)
    return [
        {"user": user, "kind": kind, "names": names, "operations": spelt(operations), "prefixed": prefixed}
        for (user, kind, operations, prefixed), names in alike.items()
    ]


def spelt(operations: Iterable[str]) -> list[str]:
    """As kafka-acls.sh spells them: IDEMPOTENT_WRITE is IdempotentWrite there."""
    return [one.title().replace("_", "") for one in operations]


def _target(target: dict[str, Any], bucket: str) -> dict[str, Any]:
    # The cluster knows its metastore; Glue would keep a version of the table per commit unless sync is conditional.
    options = {key: value for key, value in target["options"].items() if key != HIVE_URIS}
    options["hoodie.datasource.meta_sync.condition.sync"] = "true"
    return {**target, "path": target["path"].replace(f"s3a://{bucket}/", "s3://@SILVER@/"), "options": options}


def local_form(environment: AwsEnvironment, root: Path) -> Environment:
    """The same settings as lake/rendering/ reads them. Its addresses are not used."""
    return Environment(
        name=environment.name,
        root=root,
        bucket=environment.name,
        kafka=Kafka(
            partitions=environment.streaming.partitions,
            replication_factor=REPLICATION_FACTOR,
            min_insync_replicas=MIN_INSYNC_REPLICAS,
            retention_hours=environment.streaming.retention_hours,
        ),
        silver=environment.processing.silver,
        bronze=environment.processing.bronze,
    )


def streamer_places(environment: AwsEnvironment) -> Places:
    """Where HoodieStreamer reads and writes; the cluster's settings name the metastore."""
    folder = SINK if environment.processing.streamer.source == "s3_sink" else "bronze/topics"
    return Places(
        archive=f"s3://@BRONZE@/{folder}",
        tables=f"s3://@SILVER@/{STREAMER}",
        files=f"s3://@ARTIFACTS@/{STATE}/{STREAMER}",
        registry="@REGISTRY@/apis/ccompat/v7",
    )
