"""The files of the bronze archive, and their check: each offset must be there once, in the right file."""

import json
from typing import Dict, List, NamedTuple, Tuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from spark_jobs.runtime import storage

OFFSET_FIELD = "__offset"
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


def reached(spark: SparkSession, path: str, topic: str) -> Dict[str, int]:
    """The next offset of each partition, by its number as text. Only the newest file of each is read."""
    files: Dict[str, Tuple[int, str, str]] = {}
    for folder in folders(path, topic):
        for partition in storage.names(spark, folder):
            for name in storage.names(spark, "{}/{}".format(folder, partition)):
                files[partition] = max(files.get(partition, (-1, "", "")), (named(name)[1], name, folder))
    return {partition.partition("=")[2]: _last(spark, partition, *files[partition][1:]) + 1 for partition in files}


def named(name: str) -> Tuple[int, int]:
    """Partition and first offset, from the name of a file."""
    partition, start = name[: -len(".avro")].replace("%2B", "+").rsplit("+", 2)[1:]
    return int(partition), int(start)


def _last(spark: SparkSession, partition: str, name: str, folder: str) -> int:
    return int(_offsets(spark, "{}/{}/{}".format(folder, partition, name)).agg(F.max(OFFSET_FIELD)).collect()[0][0])


def files_of(spark: SparkSession, path: str, topic: str) -> List[File]:
    """All files of one topic."""
    return [file for folder in folders(path, topic) for file in _files_in(spark, folder)]


def _files_in(spark: SparkSession, folder: str) -> List[File]:
    if not storage.names(spark, folder):
        return []
    held = "min({0}) AS first", "max({0}) AS last", "count({0}) AS rows", "collect_set({0}) AS held"
    files = _offsets(spark, folder).groupBy(F.input_file_name().alias("file"))
    found = files.agg(*[F.expr(sql.format(OFFSET_FIELD)) for sql in held])
    holes = "slice(array_except(sequence(first, last), held), 1, {}) AS missing".format(NAMED_AT_MOST)
    rows = found.selectExpr("file", "first", "last", "rows", holes, "rows - size(held) AS doubled").collect()
    return [File(*named(row[0].rsplit("/", 1)[1]), *row[1:]) for row in rows]


def _offsets(spark: SparkSession, path: str) -> DataFrame:
    """The offsets of a file or of all files below a folder; nothing else is decoded."""
    schema = {"type": "record", "name": "Value", "fields": [{"name": OFFSET_FIELD, "type": "long"}]}
    reader = spark.read.format("avro").option("avroSchema", json.dumps(schema)).option("pathGlobFilter", "*.avro")
    return reader.option("recursiveFileLookup", "true").load(path)


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
