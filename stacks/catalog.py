"""The catalog: the Glue databases and the work group of Athena."""

from constructs import Construct
from lake_constructs.catalog import GlueDatabase, QueryGroup, name_queries

from lake.aws.rendering import glue_databases
from lake.config.definition import Database, Table
from stacks.part import Blueprint, Part
from stacks.storage import RESULTS, StorageStack


class CatalogStack(Part):
    """One Glue database per source database, table type and path, and one Athena work group."""

    def __init__(self, scope: Construct, blueprint: Blueprint, *, storage: StorageStack) -> None:
        super().__init__(scope, blueprint)
        for name, folder in glue_databases(blueprint.databases).items():
            location = f"s3://{storage.silver.bucket_name}/{folder}"
            GlueDatabase(self, name.title().replace("_", ""), name=name, location=location)
        self.group = QueryGroup(
            self,
            "Queries",
            name=blueprint.name,
            results=storage.artifacts,
            prefix=RESULTS,
            key=storage.key,
            limit_gb=self.settings.catalog.scan_limit_gb,
        )
        for database in blueprint.databases:
            table = database.tables[0]
            name_queries(self, self.group, f"{database.database}_{table.types[0]}", queries(database, table))


def queries(database: Database, table: Table) -> dict[str, str]:
    """Three queries to start with, on the first table."""
    name, prefix = table.hive_names(database.database, table.types[0])[0], database.database.title()
    return {
        f"{prefix}Rows": f"SELECT count(*) AS rows FROM {name} WHERE __deleted = 'false'",
        f"{prefix}Newest": f"SELECT * FROM {name} ORDER BY _hoodie_commit_time DESC LIMIT 20",
        f"{prefix}Deleted": f"SELECT * FROM {name} WHERE __deleted = 'true' LIMIT 20",
    }
