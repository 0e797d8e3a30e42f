"""The catalog: Glue databases, and how Athena may read them."""

from collections.abc import Mapping

from aws_cdk import Aws
from aws_cdk import aws_athena as athena
from aws_cdk import aws_glue as glue
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

READ = ["glue:GetDatabase", "glue:GetTable", "glue:GetTables", "glue:GetPartition", "glue:GetPartitions"]
WRITE = [
    "glue:CreateTable",
    "glue:UpdateTable",
    "glue:BatchGetPartition",
    "glue:BatchCreatePartition",
    "glue:BatchDeletePartition",
    "glue:CreatePartition",
    "glue:UpdatePartition",
    "glue:DeletePartition",
]


class GlueDatabase(glue.CfnDatabase):
    """One database of the catalog; its tables are registered by the jobs that write them."""

    def __init__(self, scope: Construct, id: str, *, name: str, location: str) -> None:
        entry = glue.CfnDatabase.DatabaseInputProperty(name=name, location_uri=location)
        super().__init__(scope, id, catalog_id=Aws.ACCOUNT_ID, database_input=entry)


class QueryGroup(athena.CfnWorkGroup):
    """Athena with encrypted results in one place, and a limit on what a query may read."""

    def __init__(
        self, scope: Construct, id: str, *, name: str, results: s3.IBucket, prefix: str, key: kms.IKey, limit_gb: int
    ) -> None:
        encryption = athena.CfnWorkGroup.EncryptionConfigurationProperty(
            encryption_option="SSE_KMS", kms_key=key.key_arn
        )
        super().__init__(
            scope,
            id,
            name=name,
            recursive_delete_option=True,
            work_group_configuration=athena.CfnWorkGroup.WorkGroupConfigurationProperty(
                bytes_scanned_cutoff_per_query=limit_gb * 1024**3,
                enforce_work_group_configuration=True,
                publish_cloud_watch_metrics_enabled=True,
                engine_version=athena.CfnWorkGroup.EngineVersionProperty(
                    selected_engine_version="Athena engine version 3"
                ),
                result_configuration=athena.CfnWorkGroup.ResultConfigurationProperty(
                    output_location=f"s3://{results.bucket_name}/{prefix}/", encryption_configuration=encryption
                ),
            ),
        )


def name_queries(scope: Construct, group: QueryGroup, database: str, queries: Mapping[str, str]) -> None:
    """Queries to start from, shown in Athena's list."""
    for name, text in queries.items():
        query = athena.CfnNamedQuery(
            scope, name, name=name, database=database, query_string=text, work_group=group.name
        )
        query.add_dependency(group)


def write_tables(databases: list[str]) -> list[iam.PolicyStatement]:
    """Register tables and partitions in these databases; Spark also checks for a database `default`."""
    return [
        iam.PolicyStatement(actions=[*READ, *WRITE], resources=_tables(databases)),
        iam.PolicyStatement(actions=["glue:GetDatabase"], resources=_catalog("database/default")),
    ]


def _tables(databases: list[str]) -> list[str]:
    parts = [part for name in databases for part in (f"database/{name}", f"table/{name}/*")]
    return _catalog(*parts)


def _catalog(*parts: str) -> list[str]:
    return [f"arn:{Aws.PARTITION}:glue:{Aws.REGION}:{Aws.ACCOUNT_ID}:{part}" for part in ("catalog", *parts)]
