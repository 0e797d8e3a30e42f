"""The sales of a film rental shop on the shared lake: the jobs run in the session of the tests.

Their arguments are those that `lake jobs` gives them.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient
from pyspark.sql import SparkSession

from lake.clients.kafka import Broker
from lake.local.sales import SalesStream, arguments, registry_login
from lake.rendering import sales
from lake.rendering.sales import SalesOptions
from lake.rendering.topics import Topic
from spark_jobs import sales_job
from spark_jobs.sales import job, streams
from spark_jobs.sales.results import FORMATS
from tests.clocks import HANG_S
from tests.running_lake import RunningLake

Totals = list[tuple[str, str, int]]  # name, money, orders


@dataclass(frozen=True)
class Shop:
    """lake: the shared one. spark: its session."""

    lake: RunningLake
    spark: SparkSession

    def run(self, name: str, **options: Any) -> dict[str, Any]:
        """The result of a job that ends."""
        with pytest.MonkeyPatch.context() as patch:
            for variable, value in registry_login(self.lake.home).items():
                patch.setenv(variable, value)
            return sales_job.work(self.spark, self._given(name, options))

    def stream(self, name: str, **options: Any) -> dict[str, Any]:
        """Runs a job that streams over all that its topic holds; the report of its last batch."""
        given = self._given(name, {"trigger": 0.0, **options})
        if options.get("anew"):
            SalesStream(self.lake.home, name).forget()
        query = streams.JOBS[given.job](job.opened(self.spark, given))
        try:
            query.processAllAvailable()
            return dict(next(one for one in reversed(query.recentProgress) if one["numInputRows"]))
        finally:
            query.stop()

    def _given(self, name: str, options: dict[str, Any]) -> argparse.Namespace:
        wanted = SalesOptions(**options)
        sales.check(name, wanted)
        words = arguments(self.lake.home, name, wanted)
        return sales_job.options().parse_args([*words, "--output", "unused"])

    def kept(self, name: str, form: str = "csv") -> list[dict[str, Any]]:
        """The rows of the last batch that a stream kept on S3."""
        folder = f"{self.lake.home.bucket_uri}/{sales.FOLDER}/{name}"
        read = self.spark.read.format(form).options(**FORMATS[form]).load(folder)
        newest = read.agg({"batch": "max"}).collect()[0][0]
        return [row.asDict() for row in read.where(f"batch = {newest}").collect()]

    def empty(self) -> None:
        """Deletes all topics of sales."""
        home = self.lake.home
        there = Broker(home.kafka_bootstrap).topics(Topic(name, 1, 1) for name in sales.TOPICS)
        admin = AdminClient({"bootstrap.servers": home.kafka_bootstrap})
        for future in admin.delete_topics(list(there)).values() if there else ():
            future.result(HANG_S)


def totals(rows: Sequence[dict[str, Any]], name: str) -> Totals:
    """The largest first, then by name."""
    found = [(row[name], f"{float(row['sales']):.2f}", int(row["orders"])) for row in rows]
    return sorted(found, key=lambda row: (-float(row[1]), row[0]))


def as_the_post_has_it(regions: Path, target: Path) -> Path:
    """The file of regions with the quotes of the post's: a comma within a name ends the field."""
    lines = regions.read_text(encoding="utf-8").splitlines()
    broken = [broken_line(line) if line.startswith('"Virgin Islands') else line for line in lines]
    target.write_text("\n".join(broken) + "\n", encoding="utf-8")
    return target


def broken_line(line: str) -> str:
    """ "Virgin Islands, U.S.","Latin America" as ""Virgin Islands"," U.S."","Latin America"."""
    country, region = line.strip('"').split('","')
    first, last = country.split(", ")
    return f'""{first}"," {last}"","{region}"'
