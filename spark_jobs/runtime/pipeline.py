"""The pipeline file: which topics become which tables, rendered from the definitions."""

import json
from argparse import ArgumentParser
from dataclasses import dataclass
from typing import Any, Dict, List, Sequence, Tuple

from pyspark.sql import SparkSession

from spark_jobs.runtime import storage
from spark_jobs.runtime.batch_job import Refused

# A batch is read from Kafka more than once, and each time the consumer also requests later messages. The broker holds
# that request, by default for half a second if there are none, and answers no other request of this consumer meanwhile:
# a table with few changes spent most of each commit waiting (docs/measured.md).
READING = {"kafka.fetch.max.wait.ms": "20"}
ENGINE = "postgres"  # of a table that names none


@dataclass(frozen=True)
class Target:
    """One Hudi table that a topic is written to."""

    type: str
    path: str
    hive: Tuple[str, ...]
    options: Dict[str, str]
    engine: str = ENGINE  # of its source


@dataclass(frozen=True)
class Table:
    """One source table, its topic and its targets."""

    database: str
    schema: str
    table: str
    topic: str
    epoch: int
    keys: Tuple[str, ...]
    partition: Any  # a column, a list of columns, or None
    delete: str
    replica_identity: str
    targets: Tuple[Target, ...]
    on_bad_message: str = "stop"
    partitions: int = 1  # of the topic, for its life
    engine: str = ENGINE
    lake_name: str = ""  # where the table has another name in the lake
    format: str = "avro"  # of the messages
    avsc: Any = None  # the declared schema of the messages, as parsed JSON
    freshness_s: float = 1.0  # two commits begin half of it apart, at least
    history_s: float = 0.0  # so far back it can be read
    source_keys: Any = None  # the key as the source names it, where the lake has other names
    capture: str = ""  # the name of the capture in the source, where it is not as usual
    bronze: Any = None  # the form of the archive, where it is not the usual one
    columns: Any = None  # what the definition says of single columns: drop, hash, keep, or a dict with lake_name
    taken: Any = None  # the columns that the lake has, where some are left out or hashed
    without_key: str = ""  # of a table without a key: "append" if its rows are only ever added, else "multiset"

    @property
    def is_json(self) -> bool:
        """True if the messages are JSON, and no registry has their schema."""
        return self.format == "json"

    @property
    def is_multiset(self) -> bool:
        """True for a table without a key whose rows are updated and deleted, too."""
        return self.without_key == "multiset"

    @property
    def stored_as(self) -> str:
        """The name in the lake."""
        return self.lake_name or self.table

    @property
    def partition_columns(self) -> Tuple[str, ...]:
        """The columns that the folders of the table are named by."""
        if not self.partition:
            return ()
        return (self.partition,) if isinstance(self.partition, str) else tuple(self.partition)

    @property
    def source_key(self) -> Tuple[str, ...]:
        """The columns of the key as the source names them; none if it has no key."""
        return () if self.without_key else tuple(self.source_keys or self.keys)

    @property
    def chosen_names(self) -> Dict[str, str]:
        """The names in the lake that the definition chooses, by those in the source."""
        named = {name: one for name, one in (self.columns or {}).items() if isinstance(one, dict)}
        return {name: str(one["lake_name"]) for name, one in named.items()}

    @property
    def hashed(self) -> List[str]:
        """The columns of the source that the lake has as hashes."""
        columns = (self.columns or {}).items()
        return [name for name, one in columns if one == "hash" or isinstance(one, dict) and one.get("hash")]

    def takes(self, column: str) -> bool:
        """True for a column of the source that the lake has."""
        return self.taken is None or column in self.taken

    @property
    def source_name(self) -> str:
        """The name within the database, as joined()."""
        return joined(self.schema, self.table)

    @property
    def full_name(self) -> str:
        return "{0.database}.{0.source_name}".format(self)

    def names(self) -> List[str]:
        """All names that mean this table on a command line."""
        return [self.database, "{0.database}.{0.stored_as}".format(self), self.full_name]


@dataclass(frozen=True)
class Pipeline:
    """Everything that a streaming job needs to know."""

    kafka: Dict[str, str]
    registry: str
    status: str
    requests: str
    bronze: Dict[str, Any]
    silver: Dict[str, Any]
    metastore: str
    quarantine: Dict[str, Target]  # by database
    tables: Tuple[Table, ...]
    sources: Any = None  # the servers that definitions name, by database

    def server(self, database: str, usual: str) -> str:
        """The server of a database as a URL. usual: of those that name none."""
        return str((self.sources or {}).get(database, usual))


def read_pipeline(spark: SparkSession, path: str) -> Pipeline:
    """The pipeline file at any path that Hadoop can read."""
    content = json.loads(storage.read_text(spark, path))
    content["kafka"] = {**READING, **content["kafka"]}
    content["tables"] = tuple(_table(entry) for entry in content["tables"])
    content["quarantine"] = {name: _target(entry) for name, entry in content["quarantine"].items()}
    return Pipeline(**content)


def add_names(options: ArgumentParser) -> None:
    """Adds `--table NAME`, once for each name, and `--tables NAME,NAME`, for names without a comma."""
    options.add_argument("--table", action="append", default=[])
    options.add_argument("--tables", default="")


def given_names(args: Any) -> List[str]:
    """The names that the options of add_names() give."""
    return [*args.table, *(args.tables.split(",") if args.tables else ())]


def chosen(pipeline: Pipeline, names: Sequence[str]) -> List[Table]:
    """The tables of these names; all tables for none. Raises Refused for an unknown name."""
    found: List[Table] = []
    for name in names:
        matches = [table for table in pipeline.tables if name in table.names()]
        if not matches:
            known = ", ".join(sorted("{0.database}.{0.stored_as}".format(table) for table in pipeline.tables))
            raise Refused("there is no table or database '{}' in the lake; there are: {}".format(name, known))
        found.extend(table for table in matches if table not in found)
    return found if names else list(pipeline.tables)


def joined(schema: str, table: str) -> str:
    """The name of a table as a definition has it: a part with a dot or a quote in it is in quotes."""
    return "{}.{}".format(_written(schema), _written(table))


def _written(part: str) -> str:
    return '"{}"'.format(part.replace('"', '""')) if "." in part or '"' in part else part


def _table(entry: Dict[str, Any]) -> Table:
    targets = tuple(_target({**target, "engine": entry.get("engine", ENGINE)}) for target in entry["targets"])
    return Table(**{**entry, "keys": tuple(entry["keys"]), "targets": targets})


def _target(entry: Dict[str, Any]) -> Target:
    return Target(**{**entry, "hive": tuple(entry["hive"])})
