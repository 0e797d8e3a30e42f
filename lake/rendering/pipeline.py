"""The pipeline file: what the Spark jobs read to know their tables, written from the definition."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from lake.config.definition import DEFAULT_ENGINE, Database, Table, TableType
from lake.config.environment import Environment
from lake.config.errors import BadInput
from lake.config.files import read_json, replace_json
from lake.config.naming import CAPTURE, capture_name, joined
from lake.config.source import SourceServer
from lake.rendering import bronze_table, columns
from lake.rendering.hudi import MESSAGES, hudi_options
from lake.rendering.kafka_login import local_job

FILE_NAME = "pipeline.json"


def pipeline_path(environment: Environment) -> Path:
    return environment.rendered / FILE_NAME


def pipeline(databases: list[Database], environment: Environment) -> dict[str, Any]:
    """The content of the pipeline file for all tables of all databases."""
    return {
        "kafka": local_job(environment, "stream"),
        "registry": f"{environment.registry}/apis/ccompat/v7",
        "status": (environment.data / "status.json").as_uri(),
        "requests": (environment.data / "requests").as_uri(),
        "bronze": {"path": f"{environment.bucket_uri}/bronze", **environment.bronze.model_dump()},
        "silver": environment.silver.model_dump(exclude={"freshness_s", "history"}),  # those are in each table
        "metastore": environment.metastore,
        "quarantine": {one.database: _quarantine(one, environment) for one in databases},
        **_sources(databases),
        "tables": [_table(database, table, environment) for database in databases for table in database.tables],
    }


def _sources(databases: list[Database]) -> dict[str, Any]:
    """The servers that definitions name, for the jobs that read rows: as URLs for JDBC."""
    found = {one.database: _jdbc_url(one.source) for one in databases if one.source}
    return {"sources": found} if found else {}


def _jdbc_url(source: SourceServer) -> str:
    host = f"[{source.host}]" if ":" in source.host else source.host
    return f"jdbc:postgresql://{host}:{source.port}?{urlencode(source.tls)}"


def read_pipeline(environment: Environment) -> dict[str, Any]:
    """The content of the file; {} when there is none, or a broken one, which the next apply replaces."""
    try:
        content = read_json(pipeline_path(environment))
    except json.JSONDecodeError:
        return {}
    return content if isinstance(content, dict) else {}


def applied_keys(content: dict[str, Any], database: str) -> dict[str, list[str]]:
    """The keys of a database's lake tables, by "schema.table"."""
    own = (table for table in content.get("tables", []) if table["database"] == database)
    return {joined(table["schema"], table["table"]): table.get("source_keys", table["keys"]) for table in own}


def applied_columns(content: dict[str, Any], database: str) -> dict[str, tuple[str, ...]]:
    """The columns that lake tables take, by "schema.table", where some are left out or hashed."""
    own = (table for table in content.get("tables", []) if table["database"] == database and "taken" in table)
    return {joined(table["schema"], table["table"]): tuple(table["taken"]) for table in own}


def as_applied(database: Database, content: dict[str, Any]) -> Database:
    """The definition with the keys and the columns that the last apply read from the source."""
    keys, taken = applied_keys(content, database.database), applied_columns(content, database.database)
    tables = {
        name: replace(
            table,
            key=table.key if table.without_key else table.key or tuple(keys.get(name, ())),
            taken=taken.get(name, table.taken),
        )
        for name, table in database.by_name.items()
    }
    return database.model_copy(update={"by_name": tables})


def write_pipeline(content: dict[str, Any], environment: Environment) -> None:
    replace_json(pipeline_path(environment), content, mode=0o666)


def _table(captured: Database, table: Table, environment: Environment) -> dict[str, Any]:
    database, engine, known = captured.database, captured.engine, _with_key(captured, table)
    return {
        "database": database,
        **({} if engine == DEFAULT_ENGINE else {"engine": engine}),
        "schema": table.schema,
        "table": table.name,
        **({"lake_name": table.stored_as} if table.stored_as != table.name else {}),
        **_capture(database),
        **_bronze(captured, table),
        **({"format": captured.format, "avsc": table.avsc} if captured.format == "json" else {}),
        "topic": table.topic(database),
        "epoch": table.epoch,
        "freshness_s": environment.silver.freshness_s if table.freshness_s is None else table.freshness_s,
        "history_s": table.history or environment.silver.history,
        "keys": list(known.stored_key),
        **({"source_keys": list(known.key)} if known.key and known.key != known.stored_key else {}),
        **({"without_key": table.without_key} if table.without_key else {}),
        **columns.entry(captured, known),
        "partition": _partition(known.stored_partition),
        "delete": table.delete,
        "replica_identity": table.replica_identity,
        "on_bad_message": table.on_bad_message,
        "partitions": table.partitions(environment.kafka.partitions),
        "targets": [_target(captured, table, table_type, environment) for table_type in table.types],
    }


def _with_key(database: Database, table: Table) -> Table:
    """The table; BadInput where nothing could read its key from the source."""
    if not (table.key or table.without_key):
        where = f"databases/{database.database}.yaml, key tables.{table.full_name}"
        raise BadInput("no key is written, and no source is read here", where, "write key: [...], as lake init does")
    return table


def _bronze(captured: Database, table: Table) -> dict[str, Any]:
    """The form of the archive, and its table in the catalog; nothing where both are as usual."""
    catalog = {"catalog": bronze_table.entry(captured, table)} if table.bronze.catalog else {}
    content = {**table.bronze.entry(table.stored_bronze), **catalog}
    return {"bronze": content} if content else {}


def _capture(database: str) -> dict[str, str]:
    """The name of the capture in the source, where it is not as usual."""
    name = capture_name(database)
    return {} if name == f"{CAPTURE}{database}" else {"capture": name}


def _partition(columns: tuple[str, ...]) -> str | list[str] | None:
    """One column as text: so it is in the files of lakes that run."""
    return list(columns) if len(columns) > 1 else next(iter(columns), None)


def _target(captured: Database, table: Table, table_type: TableType, environment: Environment) -> dict[str, Any]:
    hive = captured.hive_database(table_type)
    return {
        "type": table_type,
        "path": f"{environment.bucket_uri}/silver/{captured.folder}/{table.stored_as}_{table_type}",
        "hive": captured.hive_names(table, table_type),
        "options": hudi_options(hive_database=hive, table=table, table_type=table_type, environment=environment),
    }


def _quarantine(database: Database, environment: Environment) -> dict[str, Any]:
    """Where the messages of a database are set aside: one table for all of its tables.

    Nothing waits for its commits, so its writer also cleans and archives it.
    """
    name = f"{database.stored_as}_quarantine"
    options = hudi_options(hive_database=name, table=MESSAGES, table_type="cow", environment=environment)
    return {
        "type": "cow",
        "path": f"{environment.bucket_uri}/silver/{database.folder}/quarantine",  # a table's folder ends in its type
        "hive": [f"{name}.messages"],
        "options": {**options, "hoodie.clean.automatic": "true", "hoodie.archive.automatic": "true"},
    }
