"""Tables of Glue that show archives, where the definition wants them."""

import json
from typing import Any

from aws_cdk import Aws
from aws_cdk import aws_glue as glue
from constructs import Construct

from lake.aws.rendering import (
    SERDES,
    avro_schema,
    bronze_database,
    columns,
    partition_keys,
    projection,
    table_topics,
)
from lake.config.definition import Database, Table


def add_archive_tables(scope: Construct, database: Database, *, place: str, partitions: int) -> list[glue.CfnTable]:
    """One table for each archive that is to be shown; the jobs add the partitions that Athena cannot compute.

    place: the URL of the folder with a folder for each topic. partitions: of a topic.
    """
    topics = dict(zip(database.by_name, table_topics([database]), strict=True))
    name = bronze_database(database)
    return [
        glue.CfnTable(
            scope,
            f"Archive {name} {table.stored_as}".title().replace("_", "").replace(" ", ""),
            catalog_id=Aws.ACCOUNT_ID,
            database_name=name,
            table_input=archive_table(database, table, f"{place}/{topics[table.full_name]}", partitions),
        )
        for table in database.tables
        if table.bronze.catalog
    ]


def archive_table(database: Database, table: Table, location: str, partitions: int) -> dict[str, Any]:
    """The input of a table of Glue that shows the archive of a topic."""
    serde = SERDES[table.bronze.format]
    parameters = {"serialization.format": "1"}
    if table.bronze.format == "avro":
        parameters["avro.schema.literal"] = json.dumps(avro_schema(database, table))
    return {
        "name": table.stored_as,
        "tableType": "EXTERNAL_TABLE",
        "parameters": {"EXTERNAL": "TRUE", "classification": table.bronze.format, **projection(table, partitions)},
        "partitionKeys": [{"name": name, "type": kind} for name, kind in partition_keys(table)],
        "storageDescriptor": {
            "columns": [{"name": name, "type": kind} for name, kind in columns(database, table)],
            "location": location,
            "inputFormat": serde.input,
            "outputFormat": serde.output,
            "serdeInfo": {"serializationLibrary": serde.library, "parameters": parameters},
        },
    }
