"""The jobs that stream: each makes one query, which goes on where its checkpoint ends."""

from typing import Callable, Dict

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.streaming import DataStreamWriter, StreamingQuery

from spark_jobs.sales import totals
from spark_jobs.sales.job import Job
from spark_jobs.sales.results import keep_each
from spark_jobs.sales.topics import Format


def console(job: Job) -> StreamingQuery:
    """Sales and orders by country."""
    return _keeping(job, totals.by_country(_sales(job)))


def windows(job: Job) -> StreamingQuery:
    """Sales and orders by country, in windows."""
    return _keeping(job, totals.by_country_and_window(_sales(job)))


def country_totals(job: Job) -> StreamingQuery:
    """Sales and orders by country, all of them sent to another topic after each batch."""
    return _sending(job, totals.by_country(_sales(job)), job.json_totals, F.sha1("country"))


def regions(job: Job) -> StreamingQuery:
    """Sales and orders by region."""
    return _keeping(job, totals.by_region(_sales(job), job.regions()))


def region_windows(job: Job) -> StreamingQuery:
    """Sales and orders by region, in windows."""
    return _keeping(job, totals.by_region_and_window(_sales(job), job.regions()))


def avro_regions(job: Job) -> StreamingQuery:
    """Sales and orders by region, in windows, from one Avro topic to another."""
    source, sink = job.args.source, job.args.sink
    sales = job.topics.stream(source, job.avro_sales(source))
    found = totals.by_region_and_window(sales, job.regions())
    return _sending(job, found, job.avro_totals(sink), F.unix_timestamp("window_start"))


def _sales(job: Job) -> DataFrame:
    return job.topics.stream(job.args.source, job.json_to_total)


def _keeping(job: Job, found: DataFrame) -> StreamingQuery:
    # The time of the batch is in its checkpoint, so that a batch that comes again has it again.
    timed = found.withColumn("at", F.current_timestamp())
    return _writer(job, timed).foreachBatch(keep_each(job.args.results, job.args.format)).start()


def _sending(job: Job, found: DataFrame, form: Format, key: Column) -> StreamingQuery:
    """A batch that comes again after a crash sends the same totals again: the newest ones are the same."""
    job.topics.create(job.args.sink)
    sent = _writer(job, form.messages(found, key)).format("kafka").options(**job.topics.settings)
    return sent.option("topic", job.args.sink).start()


def _writer(job: Job, found: DataFrame) -> DataStreamWriter:
    args = job.args
    writer = found.writeStream.queryName("sales-{}".format(args.job)).outputMode("complete")
    trigger = "{} milliseconds".format(int(args.trigger_s * 1000))
    return writer.option("checkpointLocation", args.checkpoint).trigger(processingTime=trigger)


JOBS: Dict[str, Callable[[Job], StreamingQuery]] = {
    "console": console,
    "windows": windows,
    "totals": country_totals,
    "regions": regions,
    "region-windows": region_windows,
    "avro-regions": avro_regions,
}
