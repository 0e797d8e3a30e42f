"""Sales: messages a second of `sales-console`, beside plain PySpark jobs that count the same messages.

Both read one topic of a million made-up sales from its beginning, each with a checkpoint of its own, in one warm
session with the settings of the jobs. They take turns, because the machine is not always equally fast, and the medians
count. The plain jobs are what anybody would write: a stream with foreachBatch. `plain` counts the messages and looks at
none; `by_country` parses them and counts those of each country, of each batch alone. Ours parses each sale, keeps the
totals of all countries in its state, and writes them to S3.
"""

import json
import os
import random
import statistics
import tempfile
import time
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

from confluent_kafka import Producer
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming import StreamingQuery

from benchmarks.bench_lake import bench_lake, console
from lake.clients.kafka import Broker
from lake.config.environment import Environment
from lake.local.sales import arguments
from lake.local.spark_submit import spark_conf, spark_environment
from lake.local.stream import CONF
from lake.rendering import sales
from lake.rendering.sales import DATA, SALES, SalesOptions
from lake.rendering.topics import Topic
from spark_jobs import sales_job
from spark_jobs.sales import job, streams
from spark_jobs.sales.schema import SALE, ddl

MESSAGES, WARM_UP = 1_000_000, 100_000
TURNS = 3
BAR_SHARE = 0.8
SEED = 1
POLL_EVERY = 10_000  # messages; the producer's queue holds 100,000
Start = Callable[[str], StreamingQuery]  # with the folder of its checkpoint


def measure() -> dict[str, Any]:
    """Messages a second of both, and ours as a share of the plain one."""
    with bench_lake() as lake, tempfile.TemporaryDirectory() as folder:
        spark = _session(lake.home)
        given = _given(lake.home)
        plain = {"plain": count, "by_country": count_by_country}
        sides = {name: _plain(spark, lake.home.kafka_bootstrap, counted) for name, counted in plain.items()}
        sides["job"] = _job(spark, given)
        _send(lake.home, WARM_UP)
        for name, start in sides.items():
            _seconds(start, f"{folder}/warm-{name}")
        _send(lake.home, MESSAGES - WARM_UP)
        taken: dict[str, list[float]] = {name: [] for name in sides}
        for turn in range(TURNS):
            for name, start in sides.items():
                taken[name].append(_seconds(start, f"{folder}/{turn}-{name}"))
        spark.stop()
    console.print(taken)
    rates = {f"{name}_per_s": round(MESSAGES / statistics.median(seconds)) for name, seconds in taken.items()}
    shares = {name: statistics.median(taken[name]) / statistics.median(taken["job"]) for name in plain}
    rounded = {f"share_of_{name}": round(share, 2) for name, share in shares.items()}
    return {"messages": MESSAGES, **rates, **rounded, "bar_share": BAR_SHARE, "met": shares["plain"] >= BAR_SHARE}


def _seconds(start: Start, checkpoint: str) -> float:
    """From the start of a query until it has read all."""
    began = time.monotonic()
    query = start(Path(checkpoint).as_uri())
    query.processAllAvailable()
    seconds = time.monotonic() - began
    query.stop()
    return seconds


def count(batch: DataFrame, _: int) -> None:
    """Counts the messages of a batch."""
    console.print(f"{batch.count()} messages")


def count_by_country(batch: DataFrame, _: int) -> None:
    """Counts the sales of each country."""
    sale = F.from_json(F.col("value").cast("string"), ddl(SALE))
    console.print(f"{len(batch.select(sale.alias('sale')).groupBy('sale.country').count().collect())} countries")


def _plain(spark: SparkSession, bootstrap: str, counted: Callable[[DataFrame, int], None]) -> Start:
    def start(checkpoint: str) -> StreamingQuery:
        read = spark.readStream.format("kafka").option("kafka.bootstrap.servers", bootstrap)
        messages = read.option("subscribe", SALES).option("startingOffsets", "earliest").load()
        return messages.writeStream.foreachBatch(counted).option("checkpointLocation", checkpoint).start()

    return start


def _job(spark: SparkSession, given: Namespace) -> Start:
    def start(checkpoint: str) -> StreamingQuery:
        given.checkpoint = checkpoint
        return streams.console(job.opened(spark, given))

    return start


def _given(home: Environment) -> Namespace:
    words = arguments(home, "sales-console", SalesOptions(trigger=0.0))
    return sales_job.options().parse_args([*words, "--output", "unused"])


def _session(home: Environment) -> SparkSession:
    (home.data / "tmp").mkdir(exist_ok=True)
    os.environ.update(spark_environment(home, home.secrets.s3_keys))
    builder = SparkSession.builder.master("local[*]").config("spark.driver.memory", home.spark.driver_memory)
    for name, value in {**spark_conf(home), **CONF, **sales.SETTINGS}.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def _send(home: Environment, count: int) -> None:
    """Adds made-up sales to the topic, which is created first."""
    broker, topic = Broker(home.kafka_bootstrap), Topic(SALES, 1, 1)
    if not broker.topics([topic]):
        broker.create(topic)
    producer, chooser = Producer({"bootstrap.servers": home.kafka_bootstrap, "linger.ms": 50}), random.Random(SEED)
    lines = [line.split("|") for line in (DATA / "sales_seed.csv").read_text(encoding="utf-8").splitlines()[1:]]
    for number in range(count):
        producer.produce(SALES, _sale(chooser.choice(lines), number), str(number))
        if number % POLL_EVERY == 0:
            producer.flush()
    producer.flush()


def _sale(line: list[str], number: int) -> str:
    customer, amount, city, district, country = line[1], line[2], *line[4:]
    facts = {"payment_id": number, "customer_id": int(customer), "amount": float(amount)}
    return json.dumps(
        {**facts, "payment_date": "2026-11-28T12:00:00Z", "city": city, "district": district, "country": country}
    )
