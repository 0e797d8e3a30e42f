"""What is captured: the typed form of databases/<database>.yaml."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    field_validator,
    model_validator,
)
from pydantic.dataclasses import dataclass

from lake.config import columns as column_rules
from lake.config.bronze_form import BronzeForm
from lake.config.columns import Columns
from lake.config.declared_schema import columns_of, with_declared
from lake.config.errors import BadInput
from lake.config.identifiers import (
    TABLE_NAME,
    DatabaseName,
    Identifier,
    LakeDatabase,
    PartitionColumn,
    QualifiedName,
    SourceColumn,
)
from lake.config.naming import ROW, folded, split, stored_columns, topic_part
from lake.config.patterns import with_resolved
from lake.config.source import Source, with_located
from lake.config.span import Span
from lake.config.yaml_file import as_model, check_file_name, read_mapping

DATABASES_VARIABLE = "LAKE_DATABASES_DIR"
HEARTBEAT = "lake.heartbeat"
SIGNAL = "lake.signal"
DEFAULT_ENGINE = "postgres"
EPOCH_SIZE = 2**48  # offsets of one epoch of a topic
GREATEST_EPOCH = 2**15 - 1  # _order = epoch * 2^48 + offset must stay below 2^63

READ = ("left_out", "as_text", "message_key", "taken")  # of a table, from its source: never in a file

TableType = Literal["cow", "mor"]
OnBadMessage = Literal["stop", "quarantine"]


def _distinct(names: tuple[Any, ...]) -> tuple[Any, ...]:
    twice = sorted({str(name) for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"'{twice[0]}' is written twice | write it once")
    return names


def _listed(columns: Any) -> Any:
    """One column may be written without brackets."""
    return (columns,) if isinstance(columns, str) else () if columns is None else columns


@dataclass(frozen=True, kw_only=True, config=ConfigDict(extra="forbid"))
class Table:
    """One captured table and how the lake stores it."""

    full_name: Annotated[QualifiedName, Field(json_schema_extra={"readOnly": True})]  # in the file: before the colon
    # Without it: the one that the source has. Where no source can be read it must be written.
    key: Annotated[tuple[SourceColumn, ...], BeforeValidator(_listed), AfterValidator(_distinct)] = ()
    # For a table that has no key: append, if its rows are only ever added; multiset, if they change, too.
    without_key: Literal["append", "multiset"] | None = None
    partition: Annotated[tuple[PartitionColumn, ...], BeforeValidator(_listed), AfterValidator(_distinct)] = ()
    types: Annotated[tuple[TableType, ...], Field(min_length=1), AfterValidator(_distinct)] = ("mor",)
    delete: Literal["soft", "hard"] = "soft"
    replica_identity: Literal["full", "default", "index"] = "full"
    on_bad_message: OnBadMessage = "stop"  # the safer one: what the lake shows is always a state that the source had
    epoch: Annotated[StrictInt, Field(ge=0, le=GREATEST_EPOCH)] = 0
    freshness_s: Annotated[float, Field(ge=0, le=3600)] | None = None  # where it is not that of the environment
    history: Span | None = None  # the same
    buckets: Annotated[StrictInt, Field(ge=1, le=1024)] = 2  # of an unpartitioned table, fixed for its life
    # Of its topic, fixed for its life, where it is not the number of the environment.
    topic_partitions: Annotated[StrictInt, Field(ge=1, le=1000)] | None = None
    lake_name: Identifier | None = None  # of the table in the lake, where it is not that of the source
    columns: Columns = Field(default_factory=dict)  # left out, hashed, or named otherwise in the lake
    bronze: BronzeForm = BronzeForm()
    avsc: dict[str, Any] | None = None  # the declared schema of its messages; in the file: the name of its file
    # Read from the source, never from the file: generated columns, arrays that are declared with several dimensions,
    # the key where it is not the primary key, and the columns that the lake takes.
    left_out: Annotated[tuple[str, ...], Field(json_schema_extra={"readOnly": True})] = ()
    as_text: Annotated[tuple[str, ...], Field(json_schema_extra={"readOnly": True})] = ()
    message_key: Annotated[tuple[str, ...], Field(json_schema_extra={"readOnly": True})] = ()
    taken: Annotated[tuple[str, ...] | None, Field(json_schema_extra={"readOnly": True})] = None

    @model_validator(mode="after")
    def _partition_groups_rows(self) -> "Table":
        if self.key and self.key == self.partition:
            raise ValueError(
                f"partition '{', '.join(self.partition)}' is the whole key, so every row would get a separate folder "
                "| choose a column with few values or leave partition out"
            )
        return self

    @model_validator(mode="after")
    def _columns_fit(self) -> "Table":
        column_rules.check(self.columns, self.key, self._folders)
        return self

    @model_validator(mode="after")
    def _without_key_needs_whole_rows(self) -> "Table":
        if self.without_key and self.key:
            raise ValueError("without_key is for a table that has no key | leave out key, or without_key")
        if self.without_key and self.replica_identity != "full":
            raise ValueError("without a key only the whole row identifies a row | leave replica_identity out")
        return self

    @model_validator(mode="after")
    def _multiset_is_whole(self) -> "Table":
        if self.without_key == "multiset" and self.delete == "hard":
            kept = "a deleted row of a multiset keeps the hash of its content, which tells what it was"
            raise ValueError(f"{kept} | leave delete out")
        if self.without_key == "multiset" and self.partition:
            raise ValueError("each batch of a multiset reads the whole table, in folders or not | leave partition out")
        return self

    @model_validator(mode="after")
    def _schema_has_the_columns(self) -> "Table":
        known = columns_of(self.avsc) if self.avsc else []
        columns = [column for column in self.stored_partition if column != TABLE_NAME]
        named = [*self._stored(self.key), *columns, *self.stored_bronze]
        for column in [column for column in named if self.avsc and column not in known]:
            raise ValueError(f"the schema in avsc has no field '{column}' | add it: all columns of the table are read")
        return self

    @property
    def _folders(self) -> list[str]:
        """The columns that name folders, of the table or of its archive."""
        return [*(one for one in self.partition if one != TABLE_NAME), *self.bronze.columns]

    @property
    def is_masked(self) -> bool:
        """True if columns are left out or hashed: only columns that are known may leave the source then."""
        return column_rules.is_masked(self.columns)

    @property
    def hashed(self) -> list[str]:
        return [name for name, column in self.columns.items() if column.hash]

    @property
    def listed(self) -> tuple[str, ...] | None:
        """The columns that the lake takes, as far as they are known without the source; None: it has to be asked."""
        if self.taken is not None or column_rules.ALL_OTHERS not in self.columns:
            return self.taken
        return tuple(name for name in dict.fromkeys([*self.key, *self._folders, *self.columns]) if not self.drops(name))

    def drops(self, column: str) -> bool:
        """True for a column that the lake leaves out."""
        return column_rules.is_dropped(self.columns, column, [*self.key, *self._folders])

    def stored_columns(self, names: Iterable[str]) -> dict[str, str]:
        """The names in the lake of these columns of the source."""
        return stored_columns(names, self.key, column_rules.lake_names(self.columns))

    def partitions(self, usual: int) -> int:
        """Of its topic. usual: the number of the environment."""
        return self.topic_partitions or usual

    @property
    def _parts(self) -> tuple[str, str]:
        parts = split(self.full_name)
        assert parts, self.full_name
        return parts

    @property
    def schema(self) -> str:
        """The schema, "public"."""
        return self._parts[0]

    @property
    def name(self) -> str:
        """The bare name, "artists"."""
        return self._parts[1]

    @property
    def stored_as(self) -> str:
        """The name in the lake, "artists"."""
        return self.lake_name or folded(self.name)

    @property
    def stored_key(self) -> tuple[str, ...]:
        """The columns of the key as the lake names them; without a key, the name of the row."""
        return (ROW,) if self.without_key else tuple(self._stored(self.key))

    @property
    def stored_partition(self) -> tuple[str, ...]:
        """The columns of the partition as the lake names them."""
        columns = [one for one in self.partition if one != TABLE_NAME]
        return tuple(self.partition) if not columns else tuple(self._stored(columns))

    @property
    def stored_bronze(self) -> tuple[str, ...]:
        """The columns that name the folders of the archive, as the lake names them."""
        return tuple(self._stored(self.bronze.columns))

    def _stored(self, columns: Sequence[str]) -> list[str]:
        """As far as the definition alone can tell: a rule of the source refuses a partition that meets others."""
        stored = self.stored_columns(columns)
        return [stored[one] for one in columns]

    def topic(self, database: str) -> str:
        """The Kafka topic, "moma.public.artists"."""
        return ".".join(map(topic_part, (database, self.schema, self.name)))

    def hive_names(self, hive_database: str, table_type: TableType) -> list[str]:
        """The queryable names: ["moma_cow.artists"] or ["moma_mor.artists_rt", "moma_mor.artists_ro"]."""
        name = self.stored_as
        names = [name] if table_type == "cow" else [f"{name}_rt", f"{name}_ro"]
        return [f"{hive_database}.{name}" for name in names]


class Database(BaseModel):
    """One source database and its captured tables; engine: what lake/sources/engines.py knows by that name."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    database: DatabaseName
    engine: Identifier = DEFAULT_ENGINE
    source: Source | None = None  # of a lake on this machine; none: the server that comes with it
    lake_name: LakeDatabase | None = None  # of the one database of the catalog for all of its tables
    envelope: StrictBool = False  # topics and archive hold Debezium's envelopes; the tables are the same
    format: Literal["avro", "json"] = "avro"  # of the messages; json: without a registry
    on_drift: Literal["repair", "stop", "tell"] = "repair"  # what the guardian does for tables that lost changes
    by_name: Annotated[dict[str, Table], Field(alias="tables", min_length=1)]

    @field_validator("by_name", mode="before")
    @classmethod
    def _name_each_table(cls, tables: Any) -> Any:
        if not isinstance(tables, dict):
            return tables
        return {str(name): _named(str(name), settings) for name, settings in tables.items()}

    @field_validator("by_name")
    @classmethod
    def _name_once(cls, tables: dict[str, Table]) -> dict[str, Table]:
        """By the form of the name that all other files have."""
        found = {table.full_name: table for table in tables.values()}
        if len(found) < len(tables):
            written = [table.full_name for table in tables.values()]
            twice = next(name for name in written if written.count(name) > 1)
            raise ValueError(f"table {twice} is written twice | write it once")
        return _told_apart(found)

    @model_validator(mode="after")
    def _hive_names_are_distinct(self) -> "Database":
        owner: dict[str, str] = {}
        for table in self.tables:
            for name in [*(name for kind in table.types for name in self.hive_names(table, kind)), table.stored_as]:
                if name in owner:
                    shown = name if "." in name else f"{self.hive_database(table.types[0])}.{name}"
                    raise ValueError(
                        f"{owner[name]} and {table.full_name} would both become {shown} "
                        "| capture one of them, or give one a lake_name"
                    )
                owner[name] = table.full_name
        return self

    @model_validator(mode="after")
    def _form_is_known(self) -> "Database":
        if self.format == "json" and self.envelope:
            raise ValueError("JSON is read as flat rows, not as envelopes | leave out envelope, or format")
        for table in self.tables:
            if self.format == "json" and table.avsc is None:
                raise ValueError(f"JSON says no types, and {table.full_name} has no avsc | name a file with its schema")
            if table.bronze.catalog and table.avsc is None:
                raise ValueError(f"the bronze table of {table.full_name} has no columns | name their file in avsc")
            if self.format == "avro" and not table.bronze.catalog and table.avsc is not None:
                now = "leave it out, or add format: json or bronze: {catalog: true}"
                raise ValueError(f"nothing reads the avsc of {table.full_name} | {now}")
        return self

    @model_validator(mode="after")
    def _topics_are_distinct(self) -> "Database":
        """Kafka takes two names for one if they differ in dots and underscores only."""
        owner: dict[str, str] = {}
        for table in self.tables:
            topic = table.topic(self.database).replace(".", "_")
            if topic in owner:
                what = f"Kafka refuses the topics of {owner[topic]} and {table.full_name} beside each other"
                raise ValueError(f"{what}: they differ in dots and underscores only | leave one of them out")
            owner[topic] = table.full_name
        return self

    @property
    def tables(self) -> tuple[Table, ...]:
        """The tables in the order of the file."""
        return tuple(self.by_name.values())

    @property
    def stored_as(self) -> str:
        """How the names of its databases in the catalog begin: "moma"."""
        return folded(self.database)

    def is_named_by(self, name: str) -> bool:
        """True for its name on a command line, and for one that can be that of a table of it."""
        return name == self.database or name.startswith(f"{self.database}.")

    @property
    def folder(self) -> str:
        """The name of its folders: a name of one database only."""
        return topic_part(self.database)

    def hive_database(self, kind: TableType) -> str:
        """The database of the catalog: "moma_cow", or the lake_name."""
        return self.lake_name or f"{self.stored_as}_{kind}"

    def hive_names(self, table: Table, kind: TableType) -> list[str]:
        """The queryable names of a table of this database."""
        return table.hive_names(self.hive_database(kind), kind)

    @property
    def hudi_tables(self) -> dict[str, str]:
        """The topic of each Hudi table by its name, "moma_mor.artists", whatever the catalog calls it."""
        return {
            f"{self.database}_{kind}.{table.stored_as}": table.topic(self.database)
            for table in self.tables
            for kind in table.types
        }

    @property
    def connector(self) -> str:
        return f"source_{self.engine}_{topic_part(self.database)}"

    @property
    def topic_prefix(self) -> str:
        """How the names of its topics begin, without the dot."""
        return topic_part(self.database)

    @property
    def heartbeat_topic(self) -> str:
        return f"__debezium-heartbeat.{self.topic_prefix}"


def _named(name: str, settings: Any) -> Any:
    settings = {} if settings is None else settings
    if not isinstance(settings, dict):
        return settings
    if "full_name" in settings:
        raise ValueError(f"table '{name}' has the key full_name | its name is already written before the colon")
    for read in READ:
        if read in settings:
            raise ValueError(f"table '{name}' has the key {read} | leave it out: it is read from the source")
    return {**settings, "full_name": name}


def _told_apart(tables: dict[str, Table]) -> dict[str, Table]:
    """The tables; of those that meet in the lake without a lake_name, all but one get their schema into the name.

    That of the schema public keeps the name, otherwise the first of the file.
    """
    chosen = {table.lake_name for table in tables.values() if table.lake_name}
    by_rank = sorted(tables.values(), key=lambda table: (table.lake_name is None, table.schema != "public"))
    found: dict[str, Table] = {}
    for table in by_rank:
        taken = chosen | {one.stored_as for one in found.values()}
        meets = table.lake_name is None and table.stored_as in taken
        longer = f"{folded(table.schema)}_{folded(table.name)}"
        found[table.full_name] = replace(table, lake_name=longer) if meets else table
    return {name: found[name] for name in tables}


def load_database(path: Path) -> Database:
    """One file; BadInput names file, line, key and remedy."""
    content = with_resolved(read_mapping(path), path)
    database = as_model(Database, with_located(with_declared(content, path), path), path)
    check_file_name(path, "database", "database", database.database)
    return database


def load_databases(root: Path, may_be_none: bool = False) -> list[Database]:
    """All files of databases/ (or of LAKE_DATABASES_DIR), by name; BadInput when there is none, or a *.yml."""
    folder = root / os.environ.get(DATABASES_VARIABLE, "databases")
    for path in folder.glob("*.yml"):
        raise BadInput("a file with this ending is not read", str(path), f"rename it to {path.stem}.yaml")
    paths = sorted(folder.glob("*.yaml"))
    if not paths and not may_be_none:
        raise BadInput("no database is defined", str(folder), "create databases/<database>.yaml as in README.md")
    databases = [load_database(path) for path in paths]
    _refuse_shared_names(databases)
    return databases


def _refuse_shared_names(databases: list[Database]) -> None:
    """BadInput for a name in the catalog that two databases would give: lake_name allows that."""
    owner: dict[str, str] = {}
    stored: dict[str, str] = {}
    for one in databases:
        if one.stored_as in stored:
            what = f"the databases {stored[one.stored_as]} and {one.database} would both become {one.stored_as}"
            raise BadInput(what, f"databases/{one.database}.yaml", "rename one of them in the source")
        stored[one.stored_as] = one.database
        for name in (name for table in one.tables for kind in table.types for name in one.hive_names(table, kind)):
            if name in owner:
                what = f"the databases {owner[name]} and {one.database} would both have a table {name}"
                where = f"databases/{one.database}.yaml, key lake_name"
                raise BadInput(what, where, "give one of them another lake_name")
            owner[name] = one.database
