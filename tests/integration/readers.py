"""What lies in Kafka, the registry and the object store, read without the product's Spark jobs."""

import io
import json
import time
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import boto3
import fastavro
import httpx
import psycopg
from confluent_kafka import Consumer, TopicPartition
from pyspark.sql import SparkSession
from pyspark.sql.functions import input_file_name

from lake.config.environment import Environment
from tests.clocks import HANG_S

LOOK_EVERY_S = 0.3
FILE = "__file"
Record = dict[str, Any]


def end_of(home: Environment, topic: str) -> int:
    """The next offset of partition 0."""
    consumer = consumer_of(home)
    try:
        return int(consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=10)[1])
    finally:
        consumer.close()


def wait_for_end(home: Environment, topic: str, least: int) -> None:
    end = time.monotonic() + HANG_S
    while (reached := end_of(home, topic)) < least:
        assert time.monotonic() < end, f"{topic} has {reached} records, not {least}"
        time.sleep(LOOK_EVERY_S)


def topic_records(home: Environment, topic: str, begin: int = 0) -> list[Record]:
    """The values of partition 0 in order of offset, each decoded with the schema of the id in its frame."""
    return [_decoded(home, value) for value in topic_values(home, topic, begin)]


def topic_values(home: Environment, topic: str, begin: int = 0) -> list[bytes]:
    """The values of partition 0 in order of offset, as they came."""
    consumer = consumer_of(home)
    try:
        consumer.assign([TopicPartition(topic, 0, begin)])
        count = int(consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=10)[1]) - begin
        values: list[bytes] = []
        while len(values) < count:
            found = consumer.consume(min(count - len(values), 5000), timeout=10)
            assert found, f"{topic} ends at {begin + len(values)}, not {begin + count}"
            values += [message.value() or b"" for message in found]
        return values
    finally:
        consumer.close()


def consumer_of(home: Environment, settings: Record | None = None) -> Consumer:
    return Consumer(
        {"bootstrap.servers": home.kafka_bootstrap, "group.id": "test", "enable.auto.commit": False, **(settings or {})}
    )


def _decoded(home: Environment, value: bytes) -> Record:
    assert value[0] == 0, "the frame starts with a zero"
    schema = _schema(home.registry, int.from_bytes(value[1:5]))
    decoded: Any = fastavro.schemaless_reader(io.BytesIO(value[5:]), schema)
    return dict(decoded)


def changed(home: Environment, value: bytes, **fields: Any) -> bytes:
    """The message with other values in some fields."""
    out = io.BytesIO()
    schema = _schema(home.registry, int.from_bytes(value[1:5]))
    fastavro.schemaless_writer(out, schema, {**_decoded(home, value), **fields})
    return value[:5] + out.getvalue()


@cache
def _schema(registry: str, schema_id: int) -> Any:
    address = f"{registry}/apis/ccompat/v7/schemas/ids/{schema_id}"
    answer = httpx.get(address, trust_env=False).raise_for_status().json()["schema"]
    return fastavro.parse_schema(json.loads(answer))


def object_keys(home: Environment, prefix: str) -> list[str]:
    """The keys below the prefix in order, without those that only mark a folder."""
    pages = _store(home).get_paginator("list_objects_v2").paginate(Bucket=home.bucket, Prefix=prefix)
    keys = (item["Key"] for page in pages for item in page.get("Contents", []))
    return sorted(key for key in keys if not key.endswith("/"))


def bucket_folder(home: Environment) -> Path:
    """The objects as the S3 server keeps them: files."""
    return home.data / "s3" / home.bucket


def bronze_folder(topic: str) -> str:
    return f"bronze/topics/{topic}/partition=0/"


def bronze_files(spark: SparkSession, home: Environment, topic: str) -> dict[str, list[Record]]:
    """Key and rows of each archive file of partition 0, once the archive reaches the end of the topic.

    Read by Spark's Avro reader: the files are compressed with snappy.
    """
    end, deadline = end_of(home, topic), time.monotonic() + HANG_S
    while not (rows := _archived(spark, home, topic)) or max(row["__offset"] for row in rows) < end - 1:
        assert time.monotonic() < deadline, f"{topic}: the archive of {len(rows)} rows has not reached {end}"
        time.sleep(LOOK_EVERY_S)
    files: dict[str, list[Record]] = {}
    for record in rows:
        files.setdefault(unquote(record.pop(FILE)).removeprefix(f"s3a://{home.bucket}/"), []).append(record)
    return files


def _archived(spark: SparkSession, home: Environment, topic: str) -> list[Record]:
    folder = bronze_folder(topic)
    if not any(key.endswith(".avro") for key in object_keys(home, folder)):
        return []
    rows = spark.read.format("avro").load(f"s3a://{home.bucket}/{folder}").withColumn(FILE, input_file_name())
    return [row.asDict() for row in rows.collect()]


def _store(home: Environment) -> Any:
    return _client(home.s3, home.secrets.s3_access_key, home.secrets.s3_secret_key)


@cache  # to make one takes as long as twenty requests
def _client(endpoint: str, key: str, secret: str) -> Any:
    return boto3.client(
        "s3",
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id=key,
        aws_secret_access_key=secret,
    )


def source_rows(home: Environment, database: str, query: str) -> list[tuple[Any, ...]]:
    """The rows of a query in PostgreSQL."""
    with psycopg.connect(home.dsn(database)) as connection:
        return connection.execute(query.encode()).fetchall()
