"""The files of the bronze archive, and their check: each offset must be there once, in the right file."""

import json
from functools import reduce
from typing import Any, Dict, List, NamedTuple, Tuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from spark_jobs.archive.form import PARTITION, PLAIN, Form
from spark_jobs.runtime import storage

OFFSET_FIELD = "__offset"
BLOCK = 10000  # offsets that are counted at once where a file does not hold consecutive ones
NAMED_AT_MOST = 20


class File(NamedTuple):
    """One archive file: the start that its name says, and what it holds."""

    partition: int
    start: int
    first: int
    last: int
    rows: int
    missing: List[int]  # the first few between first and last
    doubled: int


def folders(path: str, topic: str) -> Tuple[str, str]:
    """Two folders of a topic: its archived rows, and its messages that can't be decoded."""
    return "{}/topics/{}".format(path, topic), "{}/raw/{}".format(path, topic)


def file_path(root: str, folder: str, topic: str, name: str) -> str:
    """Where a file is. root: of folders(); name: <partition>+<start offset> and the suffix, as named() reads it."""
    return "{}/{}/{}+{}".format(root, folder, topic, name)


def folder_names(spark: SparkSession, folder: str) -> List[str]:
    """The folders of an archive that hold files, relative to it: "year=2026/month=11/day=29"."""
    inner = [name for name in storage.names(spark, folder) if "=" in name]
    below = {name: folder_names(spark, "{}/{}".format(folder, name)) for name in inner}
    return [path for name in inner for path in (["{}/{}".format(name, one) for one in below[name]] or [name])]


def topic_id_file(path: str, topic: str) -> str:
    """The file with the id of the topic that the archive belongs to: a re-created topic has the same name."""
    return "{}/topic_ids/{}".format(path, topic)


def begins(spark: SparkSession, path: str, topic: str) -> Dict[int, int]:
    """The first archived offset of each partition; archives from before 2026-11-24 did not record it."""
    place = _begins_file(path, topic)
    noted = json.loads(storage.read_text(spark, place)) if storage.exists(spark, place) else {}
    return {int(partition): offset for partition, offset in noted.items()}


def note_begins(spark: SparkSession, path: str, topic: str, firsts: Dict[int, int]) -> None:
    """Records the first archived offsets of partitions: without them, missing first files would not be noticed."""
    if firsts:
        noted = {str(key): offset for key, offset in {**begins(spark, path, topic), **firsts}.items()}
        storage.write_text(spark, _begins_file(path, topic), json.dumps(noted, sort_keys=True))


def _begins_file(path: str, topic: str) -> str:
    return "{}/topic_begins/{}".format(path, topic)


def ends(spark: SparkSession, path: str, topic: str) -> Dict[str, int]:
    """The next offset of each partition, as noted after the last file."""
    place = "{}/topic_ends/{}".format(path, topic)
    return dict(json.loads(storage.read_text(spark, place))) if storage.exists(spark, place) else {}


def note_ends(spark: SparkSession, path: str, topic: str, nexts: Dict[int, int]) -> None:
    """Records the next offsets, for an archive that is not by partition: its newest file does not have the last one."""
    content = json.dumps({str(partition): offset for partition, offset in nexts.items()}, sort_keys=True)
    storage.write_text(spark, "{}/topic_ends/{}".format(path, topic), content)


def reached(spark: SparkSession, path: str, topic: str, form: Form = PLAIN) -> Dict[str, int]:
    """The next offset of each partition, by its number as text. Only the newest file of each is read."""
    if form.by != PARTITION:
        return ends(spark, path, topic)
    files: Dict[str, Tuple[int, str, str]] = {}
    for folder in folders(path, topic):
        for partition in storage.names(spark, folder):
            for name in storage.names(spark, "{}/{}".format(folder, partition)):
                files[partition] = max(files.get(partition, (-1, "", "")), (named(name)[1], name, folder))
    return {one.partition("=")[2]: _last(spark, one, *files[one][1:]) + 1 for one in files}


def named(name: str) -> Tuple[int, int]:
    """Partition and first offset, from the name of a file."""
    partition, rest = name.replace("%2B", "+").rsplit("+", 2)[1:]
    return int(partition), int(rest.partition(".")[0])


def _last(spark: SparkSession, partition: str, name: str, folder: str) -> int:
    found = _offsets(spark, "{}/{}/{}".format(folder, partition, name), _format(name))
    return int(found.agg(F.max(OFFSET_FIELD)).collect()[0][0])


def files_of(spark: SparkSession, path: str, topic: str, form: Form = PLAIN) -> List[File]:
    """All files of one topic. By columns: for each block of offsets, all files as if they were one."""
    (archived, raw) = folders(path, topic)
    if form.columns:
        return _blocks(spark, archived, raw, form.format)
    return [*_files_in(spark, archived, form.format), *_files_in(spark, raw, PLAIN.format)]


def _blocks(spark: SparkSession, archived: str, raw: str, format: str) -> List[File]:
    there = [
        (folder, kind) for folder, kind in ((archived, format), (raw, PLAIN.format)) if storage.names(spark, folder)
    ]
    if not there:
        return []
    partition = F.regexp_extract(F.input_file_name(), "(?:[+]|%2B)([0-9]+)(?:[+]|%2B)[0-9]+[.][a-z.]+$", 1)
    parts = [_offsets(spark, *one).select(OFFSET_FIELD, partition.cast("int").alias("partition")) for one in there]
    rows = reduce(DataFrame.unionByName, parts)
    found = _held(rows.groupBy("partition", F.expr("{} DIV {} AS block".format(OFFSET_FIELD, BLOCK))))
    return [File(row["partition"], row["first"], row["first"], *row[3:]) for row in found]


def _files_in(spark: SparkSession, folder: str, format: str) -> List[File]:
    if not storage.names(spark, folder):
        return []
    rows = _held(_offsets(spark, folder, format).groupBy(F.input_file_name().alias("file")))
    return [File(*named(row[0].rsplit("/", 1)[1]), *row[1:]) for row in rows]


def _held(groups: Any) -> List[Any]:
    """For each group of rows, after its own columns: first, last, rows, missing, doubled."""
    held = "min({0}) AS first", "max({0}) AS last", "count({0}) AS rows", "collect_set({0}) AS held"
    found = groups.agg(*[F.expr(sql.format(OFFSET_FIELD)) for sql in held])
    own = [name for name in found.columns if name not in ("first", "last", "rows", "held")]
    holes = "slice(array_except(sequence(first, last), held), 1, {}) AS missing".format(NAMED_AT_MOST)
    return list(found.selectExpr(*own, "first", "last", "rows", holes, "rows - size(held) AS doubled").collect())


def _offsets(spark: SparkSession, path: str, format: str) -> DataFrame:
    """The offsets of a file or of all files below a folder; nothing else is decoded."""
    schema = {"type": "record", "name": "Value", "fields": [{"name": OFFSET_FIELD, "type": "long"}]}
    reader = spark.read.format(format).option("pathGlobFilter", "*." + format).option("recursiveFileLookup", "true")
    if format == PLAIN.format:
        return reader.option("avroSchema", json.dumps(schema)).load(path)
    return reader.schema("{} bigint".format(OFFSET_FIELD)).load(path)


def _format(name: str) -> str:
    return name.rpartition(".")[2]


def faults(files: List[File], begin: Dict[int, int]) -> List[str]:
    """What is missing, duplicated or misnamed, one line each.

    begin: by partition, the first offset that the archive must have, unless it has older ones
    """
    found: List[str] = []
    for partition in sorted({file.partition for file in files} | set(begin)):
        expected = None
        for file in sorted((file for file in files if file.partition == partition), key=lambda file: file.start):
            found.extend(_faults_of(file))
            expected = min(begin.get(partition, file.start), file.start) if expected is None else expected
            if file.start > expected:
                found.append("partition {}: offsets {} to {} are missing".format(partition, expected, file.start - 1))
            if file.start < expected:
                twice = "partition {}: offsets {} to {} are in two files"
                found.append(twice.format(partition, file.start, expected - 1))
            expected = file.last + 1
    return found[:NAMED_AT_MOST]


def _faults_of(file: File) -> List[str]:
    name = "partition {}, file from {}".format(file.partition, file.start)
    found = ["{}: offset {} is missing".format(name, offset) for offset in file.missing]
    if file.first != file.start:
        found.append("{}: its first offset is {}".format(name, file.first))
    if file.doubled:
        found.append("{}: {} offsets are duplicated".format(name, file.doubled))
    return found
