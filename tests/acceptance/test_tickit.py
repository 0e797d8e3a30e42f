"""Cases A21 to A25 on the ticket sales: seven tables by HoodieStreamer, one sale updated, deleted and travelled to.

The definition is that of posts/: an archive by day, one database of the catalog, REPLICA IDENTITY DEFAULT.
"""

import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from pyspark.sql import SparkSession

from lake.config.environment import PROJECT
from lake.samples import tickit
from spark_jobs.archive import files
from spark_jobs.archive.form import form_of
from spark_jobs.kafka import admin
from spark_jobs.kafka.lag import missing_offsets
from spark_jobs.runtime.pipeline import read_pipeline
from spark_jobs.runtime.waiting import LOOK_EVERY_S, Deadline
from tests.clocks import HANG_S
from tests.integration import readers
from tests.running_lake import RunningLake

pytestmark = pytest.mark.integration
FUTURE = "20991231000000000"
BEFORE_ALL = "20000101000000000"
UPDATE = "UPDATE ecomm.sale SET qtysold = qtysold + 1 WHERE salesid = 200"
DELETE = "DELETE FROM ecomm.sale WHERE salesid = 200"


class Tickets:
    """The database tickit, its archive, and the table of sales that HoodieStreamer makes."""

    def __init__(self, lake: RunningLake, spark: SparkSession) -> None:
        self.lake = lake
        self.spark = spark
        self.path = f"{lake.home.bucket_uri}/streamer/tickit/sale_cow"

    def read(self, table: str = "tickit") -> dict[str, Any]:
        """One run over all that is committed now."""
        self.await_archive()
        done = self.lake.run("streamer", "run", table, "--once", "--type", "cow", "--json")
        return dict(json.loads(done.stdout)["tables"])

    def await_archive(self) -> None:
        """Returns once the archive holds all that is committed now."""
        self.lake.drain("tickit")
        pipeline = read_pipeline(self.spark, (self.lake.home.rendered / "pipeline.json").as_uri())
        deadline = Deadline(time.monotonic() + HANG_S)
        for table in [one for one in pipeline.tables if one.database == "tickit"]:
            end = admin.topic_offsets(self.spark, pipeline, table.topic).end
            place = pipeline.bronze["path"], table.topic, form_of(table)
            while missing_offsets("bronze", files.reached(self.spark, *place), end):
                assert not deadline.passed()
                time.sleep(LOOK_EVERY_S)

    def tables(self, database: str) -> set[str]:
        """Hudi's catalog lists the session's temporary views too, without a namespace."""
        rows = self.spark.sql(f"SHOW TABLES IN {database}").collect()
        return {row["tableName"] for row in rows if row["namespace"] == database}

    def ops(self, **options: str) -> list[str]:
        """The operations of sale 200 as a query with the options shows it."""
        named = {f"hoodie.datasource.{name.replace('_', '.')}": value for name, value in options.items()}
        named = {{"hoodie.datasource.as.of": "as.of.instant"}.get(name, name): value for name, value in named.items()}
        rows = self.spark.read.format("hudi").options(**named).load(self.path).where("salesid = 200").collect()
        return [f"{row['__op']} {row['__deleted']}" for row in rows]


# The cases follow one sale: a hundredth of the rows shows the same.
FEWER = {"ems.event": 88, "crm.user": 500, "ecomm.listing": 1925, "ecomm.sale": 1725}


@pytest.fixture(scope="module")
def tickets(lake: RunningLake, spark: SparkSession) -> Iterator[Tickets]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tickit, "COUNTS", {**tickit.COUNTS, **FEWER})
        yield opened(lake, spark)


def opened(lake: RunningLake, spark: SparkSession) -> Tickets:
    """The ticket sales, loaded and captured."""
    tickit.load(lake.home)
    lake.define_as(PROJECT / "posts" / "databases" / "tickit.yaml")
    lake.apply()
    return Tickets(lake, spark)


@pytest.mark.deviation("one PostgreSQL database has the three schemas: MySQL and SQL Server come later")
def test_a21_bronze(tickets: Tickets) -> None:
    """Seven topics, and seven folders of the day on which Kafka got the messages, with all rows."""
    tickets.await_archive()
    home, day = tickets.lake.home, datetime.now(UTC).strftime("year=%Y/month=%m/day=%d")
    for table, count in tickit.COUNTS.items():
        assert readers.end_of(home, f"tickit.{table}") == count
        keys = readers.object_keys(home, f"bronze/topics/tickit.{table}/")
        assert keys and {key.rpartition("/")[0].removeprefix(f"bronze/topics/tickit.{table}/") for key in keys} == {day}


def test_a21_bronze_is_a_table(tickets: Tickets) -> None:
    tickets.await_archive()
    rows = tickets.spark.table("tickit_cdc_hudi_bronze.sale")
    today = datetime.now(UTC)
    found = rows.where(f"year = '{today:%Y}' AND month = '{today:%m}' AND day = '{today:%d}' AND __op = 'r'")
    assert found.count() == tickit.COUNTS["ecomm.sale"]
    assert found.where("salesid = 200 AND qtysold > 0").count() == 1


@pytest.mark.deviation("tables of HoodieStreamer are in tickit_cdc_hudi_streamer; the stream's have the post's name")
def test_a22_to_a25(tickets: Tickets) -> None:
    first = tickets.read()
    assert {name: one["rows"] for name, one in first.items()} == {
        f"tickit_cow_streamer.{table.partition('.')[2]}": count for table, count in tickit.COUNTS.items()
    }
    names = {table.partition(".")[2] for table in tickit.COUNTS}
    assert tickets.tables("tickit_cdc_hudi_streamer") == names
    ways = {f"{name}{way}" for name in names for way in ("", "_ro", "_rt")}
    assert tickets.tables("tickit_cdc_hudi") == ways  # those of the streaming job

    tickets.lake.execute("tickit", UPDATE)
    second = tickets.read("tickit.sale")["tickit_cow_streamer.sale"]
    t1, t2 = first["tickit_cow_streamer.sale"]["instant"], second["instant"]
    assert second["rows"] == 1
    assert tickets.ops() == tickets.ops(as_of=FUTURE) == ["u false"]
    assert tickets.ops(as_of=t1) == ["r false"]
    incremental = {"query_type": "incremental", "read_begin_instanttime": BEFORE_ALL}
    assert tickets.ops(**incremental) == ["u false"]
    assert tickets.ops(**incremental, read_end_instanttime=t1) == ["r false"]

    tickets.lake.execute("tickit", DELETE)
    tickets.read("tickit.sale")
    assert tickets.ops() == ["d true"]
    assert tickets.ops(as_of=t2) == ["u false"]
    assert tickets.ops(as_of=t1) == ["r false"]
    live = tickets.spark.table("tickit_cdc_hudi_streamer.sale").where("salesid = 200 AND __op <> 'd'")
    assert live.count() == 0
