"""The archive of a topic as a table of the catalog: its declared columns, its partitions, and its reader."""

from dataclasses import dataclass
from typing import Any

from lake.config.bronze_form import DAY, PARTITION
from lake.config.definition import Database, Table

Column = tuple[str, str]  # name, and type of Hive
BRONZE = "bronze"
# Avro types of what the connector adds to each row, and of what an envelope says of its source.
ADDED = {
    **dict.fromkeys(("__deleted", "__op", "__db", "__table", "__schema"), "string"),
    **dict.fromkeys(("__lsn", "__source_ts_ms", "__run"), "long"),
}
SOURCE = {
    **dict.fromkeys(("version", "snapshot", "db", "schema", "table"), "string"),
    **dict.fromkeys(("lsn", "ts_ms"), "long"),
}
OFFSET = {"__offset": "long"}
HIVE_TYPES = {"long": "bigint", "bytes": "binary"}
PARTITIONS: dict[str, list[Column]] = {
    PARTITION: [("partition", "int")],
    DAY: [("year", "string"), ("month", "string"), ("day", "string")],
}


@dataclass(frozen=True)
class Serde:
    """How Hive and Athena read a format: input, output and library, as names of classes."""

    input: str
    output: str
    library: str


SERDES = {
    "avro": Serde(
        "org.apache.hadoop.hive.ql.io.avro.AvroContainerInputFormat",
        "org.apache.hadoop.hive.ql.io.avro.AvroContainerOutputFormat",
        "org.apache.hadoop.hive.serde2.avro.AvroSerDe",
    ),
    "parquet": Serde(
        "org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat",
        "org.apache.hadoop.hive.ql.io.parquet.MapredParquetOutputFormat",
        "org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe",
    ),
    "json": Serde(
        "org.apache.hadoop.mapred.TextInputFormat",
        "org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat",
        "org.openx.data.jsonserde.JsonSerDe",
    ),
}


def bronze_database(database: Database) -> str:
    """The database of the catalog for the archives of a source database: "moma_bronze"."""
    return f"{database.lake_name or database.stored_as}_{BRONZE}"


def has_bronze_tables(database: Database) -> bool:
    return any(table.bronze.catalog for table in database.tables)


def partition_keys(table: Table) -> list[Column]:
    """The columns that the folders stand for."""
    return PARTITIONS.get(table.bronze.by) or [(name, "string") for name in table.stored_bronze]


def avro_schema(database: Database, table: Table) -> dict[str, Any]:
    """The schema that the files of the archive are read with. Every field may be missing in a file."""
    declared = [_nullable(field["name"], field["type"]) for field in (table.avsc or {})["fields"]]
    if database.envelope:
        row = {"type": "record", "name": "Value", "fields": declared}
        source = {"type": "record", "name": "Source", "fields": _fields(SOURCE)}
        halves = [_nullable("before", row), _nullable("after", "Value"), _nullable("source", source)]
        fields = [*halves, *_fields({"op": "string", "ts_ms": "long", "__run": "long", **OFFSET})]
    else:
        known = {field["name"]: field for field in [*declared, *_fields({**ADDED, **OFFSET})]}
        fields = list(known.values())
    return {"type": "record", "name": "Archived", "fields": fields}


def columns(database: Database, table: Table) -> list[Column]:
    """The columns of the files, less those that name folders: a table that has a column twice is refused by Athena."""
    fields = {field["name"]: field["type"] for field in avro_schema(database, table)["fields"]}
    if database.envelope:
        fields["after"] = fields["before"]  # which it only names
    return [(name, hive_type(kind)) for name, kind in fields.items() if name not in table.stored_bronze]


def hive_type(declared: Any) -> str:
    """The type of Hive for a type of Avro that a definition may declare."""
    found = _branch(declared)
    if not isinstance(found, dict):
        return HIVE_TYPES.get(found, str(found))
    kind = found["type"]
    if kind == "record":
        return "struct<{}>".format(",".join(f"{one['name']}:{hive_type(one['type'])}" for one in found["fields"]))
    if kind == "array":
        return f"array<{hive_type(found['items'])}>"
    return f"map<string,{hive_type(found['values'])}>" if kind == "map" else hive_type(kind)


def projection(table: Table, partitions: int) -> dict[str, str]:
    """How Athena knows the partitions without asking for them; none for columns, whose values nobody knows.

    partitions: of a topic, where the table names none.
    """
    ranges = {
        PARTITION: {"partition": f"0,{table.partitions(partitions) - 1}"},
        DAY: {"year": "2020,2099", "month": "1,12", "day": "1,31"},
    }.get(table.bronze.by, {})
    enabled = {"projection.enabled": "true"} if ranges else {}
    digits = {f"projection.{name}.digits": "2" for name in ("month", "day") if name in ranges}
    types = {f"projection.{name}.type": "integer" for name in ranges}
    return {**enabled, **types, **{f"projection.{name}.range": given for name, given in ranges.items()}, **digits}


def _nullable(name: str, kind: Any) -> dict[str, Any]:
    return {"name": name, "type": ["null", _branch(kind)], "default": None}


def _branch(kind: Any) -> Any:
    """The branch of a union that is not null."""
    return next(one for one in kind if one != "null") if isinstance(kind, list) else kind


def _fields(types: dict[str, str]) -> list[dict[str, Any]]:
    return [_nullable(name, kind) for name, kind in types.items()]


def entry(database: Database, table: Table) -> dict[str, Any]:
    """What the jobs need to register the table and its partitions."""
    serde = SERDES[table.bronze.format]
    return {
        "database": bronze_database(database),
        "table": table.stored_as,
        "columns": [list(one) for one in columns(database, table)],
        "partitions": [list(one) for one in partition_keys(table)],
        "schema": avro_schema(database, table),
        "input": serde.input,
        "output": serde.output,
        "serde": serde.library,
    }
