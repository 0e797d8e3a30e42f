"""The catalog: what Athena finds."""

from aws_cdk import Stack
from constructs import Construct
from lake_constructs.catalog import GlueDatabase, QueryGroup, name_queries

from lake.aws.environment import AwsEnvironment
from lake.aws.rendering import glue_databases
from lake.config.definition import Database, Table
from stacks.storage import RESULTS, StorageStack


class CatalogStack(Stack):
    """One Glue database per source database, table type and path, and one Athena work group."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        environment: AwsEnvironment,
        databases: list[Database],
        storage: StorageStack,
    ) -> None:
        super().__init__(scope, id, env={"region": environment.region})
        for name, folder in glue_databases(databases).items():
            location = f"s3://{storage.silver.bucket_name}/{folder}"
            GlueDatabase(self, name.title().replace("_", ""), name=name, location=location)
        self.group = QueryGroup(
            self,
            "Queries",
            name=f"lake-{environment.name}",
            results=storage.artifacts,
            prefix=RESULTS,
            key=storage.key,
            limit_gb=environment.catalog.scan_limit_gb,
        )
        for database in databases:
            table = database.tables[0]
            name_queries(self, self.group, f"{database.database}_{table.types[0]}", queries(database, table))


def queries(database: Database, table: Table) -> dict[str, str]:
    """Three questions to start with, on the first table."""
    name, prefix = table.hive_names(database.database, table.types[0])[0], database.database.title()
    return {
        f"{prefix}Rows": f"SELECT count(*) AS rows FROM {name} WHERE __deleted = 'false'",
        f"{prefix}Newest": f"SELECT * FROM {name} ORDER BY _hoodie_commit_time DESC LIMIT 20",
        f"{prefix}Deleted": f"SELECT * FROM {name} WHERE __deleted = 'true' LIMIT 20",
    }
