"""What a job is given: its session, its topics, and the arguments of its command line."""

import argparse
import os
from dataclasses import dataclass
from typing import Any, List

from pyspark.sql import DataFrame, SparkSession

from spark_jobs.kafka.schema_registry import Registry
from spark_jobs.runtime.batch_job import Refused
from spark_jobs.sales.formats import AvroFormat, JsonFormat
from spark_jobs.sales.results import FORMATS
from spark_jobs.sales.schema import REGION, SALE, TOTAL, TOTALLED, ddl, region_total_avro, sale_avro
from spark_jobs.sales.topics import Topics

LOGIN = ("LAKE_REGISTRY_USER", "LAKE_REGISTRY_PASSWORD")  # variables; not set where no login is needed


def add_arguments(parser: argparse.ArgumentParser, names: List[str]) -> None:
    """The arguments of all jobs; each needs some of them."""
    parser.add_argument("job", choices=names)
    parser.add_argument("--kafka", action="append", default=[], metavar="NAME=VALUE", help="settings of the client")
    parser.add_argument("--partitions", type=int, default=1, help="of a topic that the job creates")
    parser.add_argument("--registry", default="", help="URL of the Confluent-compatible interface")
    parser.add_argument("--source", default="", help="the topic that is read")
    parser.add_argument("--sink", default="", help="the topic that is written")
    parser.add_argument("--sales", default="", help="the file of sales that is sent")
    parser.add_argument("--regions", default="", help="the file of countries and regions")
    parser.add_argument("--rate", type=float, default=0.0, help="messages a second; 0: all at once")
    parser.add_argument("--again", action="store_true", help="send all sales, also those that the topic holds")
    parser.add_argument("--missing", action="store_true", help="send those that the topic does not hold")
    parser.add_argument("--results", default="", help="folder of the results")
    parser.add_argument("--format", choices=sorted(FORMATS), default="csv", help="of the results")
    parser.add_argument("--checkpoint", default="", help="folder in which a stream keeps how far it is")
    parser.add_argument("--status", default="", help="file in which a stream says how far it is")
    parser.add_argument("--trigger-s", type=float, default=60.0, help="seconds between two batches of a stream")


@dataclass(frozen=True)
class Job:
    """args: of add_arguments."""

    spark: SparkSession
    topics: Topics
    registry: Registry
    args: Any

    @property
    def json_sales(self) -> JsonFormat:
        return JsonFormat(SALE)

    @property
    def json_to_total(self) -> JsonFormat:
        """Of a sale no more than its totals need: parsing takes longer than all else that a stream does."""
        return JsonFormat({name: SALE[name] for name in TOTALLED})

    @property
    def json_totals(self) -> JsonFormat:
        return JsonFormat(TOTAL)

    def avro_sales(self, topic: str) -> AvroFormat:
        return AvroFormat(self.registry, topic, sale_avro(topic))

    def avro_totals(self, topic: str) -> AvroFormat:
        return AvroFormat(self.registry, topic, region_total_avro(topic))

    def regions(self) -> DataFrame:
        """country, region. Refused if a country has two regions: its sales would count twice."""
        found = self.spark.read.csv(self.args.regions, schema=ddl(REGION), header=True)
        twice = found.groupBy("country").count().where("count > 1").collect()
        if twice:
            raise Refused("{}: {} has more than one region".format(self.args.regions, twice[0]["country"]))
        return found


def opened(spark: SparkSession, args: Any) -> Job:
    """The job of a command line."""
    settings = dict(one.partition("=")[::2] for one in args.kafka)
    login = ":".join(os.environ[name] for name in LOGIN if name in os.environ)
    return Job(spark, Topics(spark, settings, args.partitions), Registry(args.registry, login), args)
