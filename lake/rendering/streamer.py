"""HoodieStreamer over the archive: its properties files, its command line, and the file that its job reads.

Its tables are apart from the tables of silver: in another folder, and in databases of the catalog with another name,
moma_cow_streamer and moma_cow.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lake.config.definition import Database, Table, TableType
from lake.config.environment import HISTORY_COMMITS, Environment
from lake.config.errors import BadInput
from lake.config.files import write
from lake.config.names import as_options
from lake.rendering import hudi

BASE = "base.properties"
FILE_NAME = "streamer.json"
STATUS = "status.json"
STREAMER = "hoodie.streamer"
NAME_OTHERS = "name other tables: lake streamer run DATABASE.TABLE"
LOAD = ("--op", "BULK_INSERT", "--filter-dupes")
FOLLOW = ("--op", "UPSERT")
# Neither names the schema of the table: the table has the schema of the rows that the SQL returns.
SCHEMAS = {
    "file": ("--schemaprovider-class", "lake.streamer.SourceSchemaFile"),
    "registry": ("--schemaprovider-class", "org.apache.hudi.utilities.schema.NullTargetSchemaRegistryProvider"),
}


@dataclass(frozen=True)
class Places:
    """Where HoodieStreamer reads and writes, as URIs. metastore: '' where Spark's own settings name it."""

    archive: str  # the folder with a folder per topic
    tables: str
    files: str  # the properties files, and the schema and SQL of each table
    registry: str
    metastore: str = ""


def local_places(environment: Environment) -> Places:
    """The places of the lake on this machine."""
    return Places(
        archive=f"{environment.bucket_uri}/bronze/topics",
        tables=f"{environment.bucket_uri}/streamer",
        files=streamer_path(environment).as_uri(),
        registry=f"{environment.registry}/apis/ccompat/v7",
        metastore=environment.metastore,
    )


def streamer_path(environment: Environment) -> Path:
    return environment.rendered / "streamer"


def write_streamer(databases: list[Database], places: Places, path: Path) -> None:
    """Writes streamer.json."""
    write(path, json.dumps(streamer(databases, places), indent=2) + "\n")


def streamer(databases: list[Database], places: Places) -> dict[str, Any]:
    """The content of streamer.json: the job writes the files into their folder, where HoodieStreamer finds them.

    files: name to content, the base properties and one small file per table and type. The tables themselves are in the
    pipeline file.
    """
    files, targets = {BASE: properties(base_properties(places))}, []
    for database in databases:
        for table in database.tables:
            for kind in table.types:
                target = _target(database, table, kind, places)
                content = table_properties(database, table, kind, places)
                files[f"{database.folder}.{table.stored_as}_{kind}.properties"] = (
                    f"include={BASE}\n{properties(content)}"
                )
                targets.append(target)
    return {"folder": places.files, "files": files, "targets": targets}


def properties(settings: dict[str, str]) -> str:
    """Hudi reads a line up to the first '=' as the key, and the rest of the line as the value."""
    return "".join(f"{key}={value}\n" for key, value in sorted(settings.items()))


def _target(captured: Database, table: Table, kind: TableType, places: Places) -> dict[str, Any]:
    """arguments: HoodieStreamer's command line, without one of the schemas and the operation: load or follow."""
    database, stored = captured.folder, table.stored_as
    path, name = f"{places.tables}/{database}/{stored}_{kind}", f"{database}.{stored}"
    arguments = [
        *("--target-base-path", path),
        *("--target-table", stored),
        *("--table-type", hudi.TYPES[kind]),
        *("--props", f"{places.files}/{name}_{kind}.properties"),
        *("--source-class", "org.apache.hudi.utilities.sources.AvroDFSSource"),
        *("--source-ordering-field", hudi.ORDER),
        *("--payload-class", hudi.PAYLOAD),
        *("--transformer-class", "org.apache.hudi.utilities.transform.SqlFileBasedTransformer"),
        "--enable-sync",
    ]
    return {
        "name": f"{database}_{kind}_streamer.{stored}",
        "table": f"{captured.database}.{stored}",
        "type": kind,
        "path": path,
        "schema": schema_file(database, table, places),
        "sql": sql_file(database, table, kind, places),
        "arguments": arguments,
        "schemas": {name: list(words) for name, words in SCHEMAS.items()},
        "load": list(LOAD),
        "follow": list(FOLLOW),
    }


def refuse_unreadable(databases: list[Database], names: Sequence[str]) -> None:
    """BadInput for a table whose archive HoodieStreamer cannot read. names: of databases and tables; none means all."""
    for database in databases:
        for table in database.tables:
            name = f"{database.database}.{table.stored_as}"
            called = (database.database, name, f"{database.database}.{table.full_name}")
            problem = _unreadable(database, table)
            if problem and (not names or any(one in called for one in names)):
                where = f"databases/{database.database}.yaml"
                raise BadInput(f"HoodieStreamer reads flat rows in Avro, and {name} has {problem}", where, NAME_OTHERS)


def _unreadable(database: Database, table: Table) -> str:
    if database.envelope:
        return "envelopes (envelope: true)"
    if database.format == "json":
        return "messages in JSON (format: json)"
    if table.without_key == "multiset":
        return "deletes that name no row (without_key: multiset)"
    return "" if table.bronze.format == "avro" else f"an archive in {table.bronze.format} (bronze.format)"


@dataclass(frozen=True)
class RunOptions:
    """The options of a run. names: of databases and tables; none means all. schemas: a key of SCHEMAS.

    continuous: HoodieStreamer follows one table of one type by itself.
    """

    names: Sequence[str] = ()
    kinds: Sequence[str] = ("cow", "mor")
    schemas: str = "file"
    once: bool = False
    replay: bool = False
    interval_s: float = 5.0
    continuous: bool = False


def job_arguments(options: RunOptions, *, streamer: str, status: str) -> list[str]:
    """The arguments of spark_jobs/streamer.py except --config and --output; streamer and status are URIs of files."""
    switches = {"--once": options.once, "--replay": options.replay, "--continuous": options.continuous}
    flags = [flag for flag, given in switches.items() if given]
    return [
        *("--streamer", streamer),
        *("--status", status),
        *as_options(options.names),
        *("--types", ",".join(options.kinds)),
        *("--schemas", options.schemas),
        *("--interval-s", str(options.interval_s)),
        *flags,
    ]


def base_properties(places: Places) -> dict[str, str]:
    """The properties of all tables."""
    return {
        **hudi.STORED_ORDER,
        **hudi.RECORD_INDEX,
        **hudi.SMALL_COMMITS,
        **hudi.retention(HISTORY_COMMITS),
        **hudi.catalogue(places.metastore),
        # No other job runs table services for these tables. hoodie.compact.inline must stay unset: HoodieStreamer
        # sets it by the type of the table, and refuses either value for the other type.
        "hoodie.clean.automatic": "true",
        "hoodie.archive.automatic": "true",
        f"{STREAMER}.source.input.selector": "lake.streamer.BronzeFiles",
        f"{STREAMER}.schemaprovider.registry.schemaconverter": "lake.streamer.ArchiveSchema",
        f"{STREAMER}.schemaprovider.spark_avro_post_processor.enable": "false",  # it drops what Debezium notes
    }


def table_properties(captured: Database, table: Table, kind: TableType, places: Places) -> dict[str, str]:
    """The properties of one table."""
    database = captured.folder
    topic = table.topic(captured.database)
    return {
        **hudi.of_table(hive_database(captured, kind), table),
        f"{STREAMER}.source.dfs.root": f"{places.archive}/{topic}",
        f"{STREAMER}.schemaprovider.registry.url": f"{places.registry}/subjects/{topic}-value/versions/latest",
        f"{STREAMER}.schemaprovider.source.schema.file": schema_file(database, table, places),
        f"{STREAMER}.transformer.sql.file": sql_file(database, table, kind, places),
    }


def hive_database(database: Database, kind: TableType) -> str:
    """The database of the catalog that HoodieStreamer registers its tables in."""
    return f"{database.hive_database(kind)}_streamer"


def schema_file(database: str, table: Table, places: Places) -> str:
    return f"{places.files}/{database}.{table.stored_as}.avsc"


def sql_file(database: str, table: Table, kind: TableType, places: Places) -> str:
    # One per type: new columns come after those that a table has, and their order may differ between the two tables.
    return f"{places.files}/{database}.{table.stored_as}_{kind}.sql"
