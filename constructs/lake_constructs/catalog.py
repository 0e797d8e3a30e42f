"""The catalog: how Athena may read it, and who may write it."""

from aws_cdk import Aws
from aws_cdk import aws_athena as athena
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from constructs import Construct

READ = ["glue:GetDatabase", "glue:GetTable", "glue:GetPartition", "glue:GetPartitions"]
WRITE = [
    "glue:CreateTable",
    "glue:UpdateTable",
    "glue:BatchCreatePartition",
    "glue:UpdatePartition",
    "glue:DeletePartition",
]


class QueryGroup(athena.CfnWorkGroup):
    """Athena with encrypted results in one place (a URL), and a limit on what a query may read."""

    def __init__(self, scope: Construct, id: str, *, name: str, results: str, key: kms.IKey, limit_gb: int) -> None:
        super().__init__(
            scope,
            id,
            name=name,
            recursive_delete_option=True,
            work_group_configuration={
                "bytesScannedCutoffPerQuery": limit_gb * 1024**3,
                "enforceWorkGroupConfiguration": True,
                "publishCloudWatchMetricsEnabled": True,
                "engineVersion": {"selectedEngineVersion": "Athena engine version 3"},
                "resultConfiguration": {
                    "outputLocation": results,
                    "encryptionConfiguration": {"encryptionOption": "SSE_KMS", "kmsKey": key.key_arn},
                },
            },
        )


def write_tables(databases: list[str], *, replaced: str) -> list[iam.PolicyStatement]:
    """Register tables and partitions in these databases, and replace the tables of one of them.

    Each session of Spark also looks for the databases `default` and `global_temp`, and does not start if it may not.
    """
    tables = _in_catalog("catalog", *(part for name in databases for part in _parts(name)))
    looked_for = _in_catalog("database/default", "database/global_temp")
    return [
        iam.PolicyStatement(actions=[*READ, *WRITE], resources=tables),
        iam.PolicyStatement(actions=["glue:DeleteTable"], resources=_in_catalog("catalog", *_parts(replaced))),
        iam.PolicyStatement(actions=["glue:GetDatabase"], resources=looked_for),
    ]


def _parts(database: str) -> tuple[str, str]:
    return f"database/{database}", f"table/{database}/*"


def _in_catalog(*parts: str) -> list[str]:
    return [f"arn:{Aws.PARTITION}:glue:{Aws.REGION}:{Aws.ACCOUNT_ID}:{part}" for part in parts]
