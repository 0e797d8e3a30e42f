"""What is found in PostgreSQL, Kafka, the archive and the Hudi tables, in one form that can be compared.

Nothing of the pipeline is asked: PostgreSQL's own audit, a Kafka consumer, and Hudi tables, base files and Avro files
by path. A row is its columns as text, without those that are NULL and those that the lake adds.
"""

import fnmatch
import hashlib
import json
import os
import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

import psycopg
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import BinaryType, StringType, StructField
from tenacity import retry, retry_if_exception, stop_after_delay

from lake.config.environment import Environment
from tests.faults.source import Table
from tests.integration import readers

Key = tuple[str, ...]
Row = dict[str, str]
Text = Callable[[Any], str]
LONG_TEXT = "%s... %d characters, SHA-256 %s"
LONG = 100  # characters of a value that are kept; of a longer one there is a digest, too
SERVED = {"compaction": "*_mor/.hoodie/*.commit", "cleaning": "*/.hoodie/*.clean", "archiving": "*/archived/*"}
CLEANED = "java.io.FileNotFoundException"
INSTANTS = 4  # earlier states of a merge-on-read table that are looked at
ADDED = {"__op", "__db", "__table", "__schema", "__lsn", "__source_ts_ms", "__deleted", "_order", "_key", "__offset"}
ADDED |= {"__unavailable", "__moved_from", "__run"}  # of messages


class Version(NamedTuple):
    """One row version: what a committed transaction left of a row, or the row that it deleted."""

    key: Key
    deleted: bool
    row: Row
    read: bool = False  # an event of a snapshot


class Logged(NamedTuple):
    """A row version in the audit: its number, and its transaction's place, None when that got none."""

    version: Version
    number: int
    xid: str
    place: int | None


class File(NamedTuple):
    """One file of the archive: the first offset that its name says, and the offsets in it."""

    name: str
    start: int
    offsets: list[int]


def _text(value: Any) -> str:
    text = _whole(value)
    digest = hashlib.sha256(text.encode()).hexdigest()
    return text if len(text) <= LONG else LONG_TEXT % (text[:LONG], len(text), digest)


def _unless_text(value: Any) -> str:
    """Of what _shortened() has seen to."""
    return value if isinstance(value, str) else _text(value)


def _whole(value: Any) -> str:
    if isinstance(value, (bytes, bytearray)):
        return "\\x" + value.hex()
    return str(value).lower() if isinstance(value, bool) else str(value)


@dataclass
class Evidence:
    """Of one table. The lake's parts are by table type: cow, mor."""

    table: Table
    source: dict[Key, Row]
    audit: list[Version]  # in commit order
    topic: list[Version]  # by offset, from 0
    archive: list[File]
    lake: dict[str, list[Version]]
    optimised: list[Version] | None = None  # the read-optimised view, once it was brought up to date
    observed: dict[str, list[Version]] = field(default_factory=dict)  # whatever the lake ever held, as far as is left
    consumed: dict[str, int] = field(default_factory=dict)  # the next offset that the last commit names
    doubts: list[str] = field(default_factory=list)  # where the audit's order can't be that of the commits


def gather(
    home: Environment,
    spark: SparkSession,
    database: str,
    tables: Iterable[Table],
    seed: int = 0,
    compacted: bool = False,
) -> dict[str, Evidence]:
    """All of it, by table. The lake must have come to rest."""
    found = ends(home, spark, database, tables)
    for one in found.values():
        _add_way(home, spark, database, one, seed, compacted)
    return found


def ends(home: Environment, spark: SparkSession, database: str, tables: Iterable[Table]) -> dict[str, Evidence]:
    """The source, read in one snapshot, and the lake, without what lies between them."""
    with psycopg.connect(home.dsn(database)) as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        found = {table.name: (_live(connection, table), *_audit(connection, table)) for table in tables}
    return {
        table.name: Evidence(
            table,
            *found[table.name][:2],
            doubts=found[table.name][2],
            topic=[],
            archive=[],
            lake={
                kind: versions(table, spark.read.format("hudi").load(_path(home, database, table, kind)))
                for kind in table.types
            },
        )
        for table in tables
    }


def _add_way(
    home: Environment, spark: SparkSession, database: str, found: Evidence, seed: int, compacted: bool
) -> None:
    table = found.table
    topic = table.topic(database)
    found.topic = [_version(table, record) for record in readers.topic_records(home, topic)]
    found.archive = _archive(home, spark, topic)
    for kind in table.types:
        path = _path(home, database, table, kind)
        found.observed[kind] = list(_observed(home, spark, table, path, kind, seed))
        found.consumed[kind] = sum(position(home, database, table, kind).values())
        if kind == "mor" and compacted:
            view = spark.read.format("hudi").option("hoodie.datasource.query.type", "read_optimized").load(path)
            found.optimised = versions(table, view)


def _path(home: Environment, database: str, table: Table, kind: str) -> str:
    return f"s3a://{home.bucket}/silver/{database}/{table.name}_{kind}"


# --- PostgreSQL.


def _live(connection: "psycopg.Connection[Any]", table: Table) -> dict[Key, Row]:
    rows = [
        _row(_parsed(text))
        for (text,) in connection.execute(f"SELECT to_jsonb(whole)::text FROM {table.name} whole".encode())
    ]
    return {_key(table, row): row for row in rows}


def _audit(connection: "psycopg.Connection[Any]", table: Table) -> tuple[list[Version], list[str]]:
    """The row versions in commit order, and the doubts in that."""
    query = "SELECT op, row, number, xid, place FROM audit.version LEFT JOIN audit.transaction USING (xid) "
    ordered = (query + "WHERE relation = %s ORDER BY place, number").encode()
    doubts: list[str] = []
    # Of the server's: an hour of large rows is more than the memory holds.
    with connection.cursor("audit") as cursor:
        logged = (_logged(table, *entry) for entry in cursor.execute(ordered, [table.name]))
        return list(witnessed(logged, doubts)), doubts


def _logged(table: Table, op: str, text: str, *where: Any) -> Logged:
    row = _row(_parsed(text))
    return Logged(Version(_key(table, row), op == "d", row), *where)


def witnessed(logged: Iterable[Logged], doubts: list[str]) -> Iterator[Version]:
    """The versions; what makes their order doubtful goes to the list.

    A row is locked until its transaction has ended: of one key the versions are numbered in the order of the commits.
    """
    last: dict[Key, Logged] = {}
    for one in logged:
        key = one.version.key
        before = last.get(key, one)
        if one.place is None or one.number < before.number:
            doubts.append(f"{key}: {_where(one)}, behind {_where(before)}")
        last[key] = one
        yield one.version


def _where(logged: Logged) -> str:
    return f"version {logged.number} of transaction {logged.xid} at place {logged.place}"


def committed(home: Environment, database: str) -> int:
    """How many row versions are committed by now."""
    with psycopg.connect(home.dsn(database), connect_timeout=3) as connection:
        row = connection.execute("SELECT count(*) FROM audit.version").fetchone()
    return int(row[0]) if row else 0


def _parsed(text: str) -> dict[str, Any]:
    return dict(json.loads(text, parse_float=str, parse_int=str))


# --- The lake.


def versions(table: Table, stored: DataFrame) -> list[Version]:
    """Long values become digests where they are read: a gigabyte of them is more than the driver holds."""
    rows = stored.select(*map(_shortened, stored.schema.fields)).collect()
    return [version_of(table, row.asDict(), _unless_text) for row in rows]


def version_of(table: Table, row: dict[str, Any], text: Text = _text) -> Version:
    """What a row of a Hudi table shows, without Hudi's own columns."""
    return _version(table, {name: value for name, value in row.items() if not name.startswith("_hoodie")}, text)


def _observed(
    home: Environment, spark: SparkSession, table: Table, path: str, kind: str, seed: int
) -> Iterator[Version]:
    """All base files that are still there, of whatever commit, and a choice of earlier states."""
    if _has(home, path, ".parquet"):
        yield from _in_base_files(spark, table, path)
    left = _commits(home, path)[1 - home.silver.history_commits :]  # by a cleaner behind a compaction
    completed = [name.split(".")[0] for name in left]
    chosen = random.Random(seed).sample(completed, min(INSTANTS, len(completed))) if kind == "mor" else []
    for instant in sorted(chosen):
        yield from versions(table, spark.read.format("hudi").option("as.of.instant", instant).load(path))


@retry(retry=retry_if_exception(lambda error: CLEANED in str(error)), stop=stop_after_delay(60), reraise=True)
def _in_base_files(spark: SparkSession, table: Table, path: str) -> list[Version]:
    """The cleaner may take away what was listed: then all is listed anew."""
    options = {"recursiveFileLookup": "true", "pathGlobFilter": "*.parquet", "mergeSchema": "true"}
    files = spark.read.options(**options).parquet(path)
    return versions(table, files.drop(*[n for n in files.columns if n.startswith("_hoodie")]).distinct())


def _has(home: Environment, path: str, ending: str) -> bool:
    """Whether there is such a file below the path."""
    prefix = path.removeprefix(f"s3a://{home.bucket}/") + "/"
    return any(key.endswith(ending) for key in readers.object_keys(home, prefix))


def commits(home: Environment, database: str, table: Table, kind: str) -> list[str]:
    """The names of the completed commits, oldest first."""
    return _commits(home, _path(home, database, table, kind))


def _commits(home: Environment, path: str) -> list[str]:
    names = (file.name for file in (_kept(home, path) / ".hoodie").glob("*.*"))
    return sorted(name for name in names if name.endswith((".commit", ".deltacommit")))


def files(home: Environment, path: str) -> list[str]:
    """The names of all files of the table at the path, those of its timeline, too, from its folder on.

    By os.walk, which goes on where a folder is deleted meanwhile.
    """
    top = _kept(home, path)
    return sorted(os.path.relpath(f"{folder}/{name}", top) for folder, _, names in os.walk(top) for name in names)


def _kept(home: Environment, path: str) -> Path:
    """A folder as the store keeps it: who asks it twenty times a second takes a core from what is looked at."""
    return readers.bucket_folder(home) / path.removeprefix(f"s3a://{home.bucket}/")


def served(home: Environment) -> dict[str, set[str]]:
    """What table services have left in the timelines of all tables: compactions, cleanings, archived instants."""
    keys = timelines(home)
    return {what: set(fnmatch.filter(keys, pattern)) for what, pattern in SERVED.items()}


def unfinished(keys: Iterable[str]) -> set[str]:
    """The compactions and cleanings that are planned in timelines of these files, and not done."""
    planned, there = {"compaction": ".commit", "clean": ".clean"}, set(keys)
    return {
        key
        for kind, done in planned.items()
        for key in fnmatch.filter(there, f"*.{kind}.requested")
        if key.removesuffix(f".{kind}.requested") + done not in there
    }


def timelines(home: Environment) -> set[str]:
    """The files of all timelines, without those of Hudi's own metadata tables."""
    silver = _kept(home, "silver")
    return {str(path) for files in ("*.*", "archived/*") for path in silver.glob(f"*/*/.hoodie/{files}")}


def position(home: Environment, database: str, table: Table, kind: str) -> dict[str, int]:
    """Partition to next offset, as the newest commit says that has it."""
    path = _path(home, database, table, kind)
    for name in reversed(_commits(home, path)):
        metadata = json.loads((_kept(home, path) / ".hoodie" / name).read_text())
        if "lake.offsets" in (metadata.get("extraMetadata") or {}):
            return dict(json.loads(metadata["extraMetadata"]["lake.offsets"]))
    return {}


def _archive(home: Environment, spark: SparkSession, topic: str) -> list[File]:
    folder = f"s3a://{home.bucket}/{readers.bronze_folder(topic)}"
    if not _has(home, folder.rstrip("/"), ".avro"):
        return []
    files = _offsets(spark, folder).groupBy(F.input_file_name()).agg(F.collect_list("__offset")).collect()
    return sorted(_file(unquote(name).rsplit("/", 1)[1], offsets) for name, offsets in files)


def archived(home: Environment, spark: SparkSession, topic: str) -> int:
    """The offset behind the last one in the archive, as its newest file has it."""
    folder = readers.bronze_folder(topic)
    newest = max((key for key in readers.object_keys(home, folder) if key.endswith(".avro")), default=None)
    if newest is None:
        return 0
    return int(_offsets(spark, f"s3a://{home.bucket}/{newest}").agg(F.max("__offset")).collect()[0][0]) + 1


def _offsets(spark: SparkSession, path: str) -> DataFrame:
    schema = '{"type": "record", "name": "Value", "fields": [{"name": "__offset", "type": "long"}]}'
    return spark.read.format("avro").option("avroSchema", schema).load(path)


def _file(name: str, offsets: list[int]) -> File:
    return File(name, int(name.removesuffix(".avro").rsplit("+", 1)[1]), sorted(offsets))


# --- One form.


def _version(table: Table, record: dict[str, Any], text: Text = _text) -> Version:
    row = _row({name: value for name, value in record.items() if name not in ADDED}, text)
    return Version(_key(table, row), record["__deleted"] == "true", row, record["__op"] == "r")


def _key(table: Table, row: Row) -> Key:
    return tuple(row[name] for name in table.key)


def _row(values: dict[str, Any], text: Text = _text) -> Row:
    return {name: text(value) for name, value in values.items() if value is not None}


def _shortened(field: StructField) -> Column:
    """What _text() makes of a text or of bytes."""
    if field.dataType not in (StringType(), BinaryType()):
        return F.col(f"`{field.name}`")
    given = F.col(f"`{field.name}`")
    whole = F.concat(F.lit("\\x"), F.lower(F.hex(given))) if field.dataType == BinaryType() else given
    digest = F.format_string(LONG_TEXT, F.substring(whole, 1, LONG), F.length(whole), F.sha2(whole, 256))
    return F.when(F.length(whole) > LONG, digest).otherwise(whole).alias(field.name)
