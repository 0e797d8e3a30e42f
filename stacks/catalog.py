"""The catalog: the Glue databases and the work group of Athena."""

from typing import Any

from aws_cdk import Aws
from aws_cdk import aws_athena as athena
from aws_cdk import aws_glue as glue
from constructs import Construct
from lake_constructs.catalog import QueryGroup
from lake_constructs.kubernetes_access import role_arn
from lake_constructs.lake_formation import Grants, LakeFormation

from lake.aws.processing import STREAMER
from lake.aws.rendering import REFINED, glue_databases
from lake.config.definition import Database
from stacks.archive_tables import add_archive_tables
from stacks.part import Blueprint, Part
from stacks.storage import RESULTS, StorageStack


class CatalogStack(Part):
    """One Glue database per source database, table type and path, and one Athena work group."""

    def __init__(self, scope: Construct, blueprint: Blueprint, *, storage: StorageStack) -> None:
        super().__init__(scope, blueprint)
        folders = glue_databases(blueprint.databases)
        made = {name: self._database(name, f"s3://{storage.silver.bucket_name}/{to}") for name, to in folders.items()}
        if self.settings.catalog.lake_formation:
            self._guard(made, storage)
        results = f"s3://{storage.artifacts.bucket_name}/{RESULTS}/"
        limit_gb = self.settings.catalog.scan_limit_gb
        self.group = QueryGroup(
            self, "Queries", name=blueprint.name, results=results, key=storage.key, limit_gb=limit_gb
        )
        for database in blueprint.databases:
            self._name_queries(database)
            self._show_archives(database, made, storage)

    def _show_archives(self, database: Database, made: dict[str, glue.CfnDatabase], storage: StorageStack) -> None:
        place, partitions = f"s3://{storage.bronze.bucket_name}/bronze/topics", self.settings.streaming.partitions
        for table in add_archive_tables(self, database, place=place, partitions=partitions):
            table.add_resource_dependency(made[str(table.database_name)])

    def _database(self, name: str, place: str) -> glue.CfnDatabase:
        entry: dict[str, Any] = {"name": name, "locationUri": place}
        if self.settings.catalog.lake_formation:
            entry["createTableDefaultPermissions"] = []  # or every role with a policy could read a new table
        id = name.title().replace("_", "")
        return glue.CfnDatabase(self, id, catalog_id=Aws.ACCOUNT_ID, database_input=entry)

    def _guard(self, databases: dict[str, glue.CfnDatabase], storage: StorageStack) -> None:
        """Lake Formation lets in the readers that the environment names; the processing stack adds the jobs."""
        guard = LakeFormation(
            self,
            "LakeFormation",
            bucket=storage.silver,
            prefixes=("silver", STREAMER, REFINED),
            key=storage.key,
            databases=databases,
        )
        for role in self.settings.catalog.readers:
            grants = Grants(self, f"Reader-{role.replace('/', '-')}", role=role_arn(role), databases=list(databases))
            grants.node.add_dependency(guard.settings, *databases.values())

    def _name_queries(self, database: Database) -> None:
        place = database.hive_database(database.tables[0].types[0])
        for name, text in queries(database).items():
            query = athena.CfnNamedQuery(
                self, name, name=name, database=place, query_string=text, work_group=self.group.name
            )
            query.add_resource_dependency(self.group)


def queries(database: Database) -> dict[str, str]:
    """Three queries to start with, on the first table."""
    table = database.tables[0]
    name, prefix = database.hive_names(table, table.types[0])[0], database.stored_as.title()
    return {
        f"{prefix}Rows": f"SELECT count(*) AS rows FROM {name} WHERE __deleted = 'false'",
        f"{prefix}Newest": f"SELECT * FROM {name} ORDER BY _hoodie_commit_time DESC LIMIT 20",
        f"{prefix}Deleted": f"SELECT * FROM {name} WHERE __deleted = 'true' LIMIT 20",
    }
