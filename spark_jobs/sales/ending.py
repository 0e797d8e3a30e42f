"""The jobs that end: producers, and readers of what a topic holds now. Each returns its result."""

from typing import Any, Callable, Dict, List

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_jobs.runtime import storage
from spark_jobs.sales import producers, totals
from spark_jobs.sales.job import Job
from spark_jobs.sales.results import keep, listed
from spark_jobs.sales.topics import Format

Result = Dict[str, Any]


def seed(job: Job) -> Result:
    """Sends the sales at once, as if one had come each second until now."""
    chosen = _chosen(job, job.json_sales)
    return _send(job, job.json_sales, "payment_id", producers.just_sold(chosen, producers.utc_now()), stamp=False)


def incremental(job: Job) -> Result:
    """Sends one sale after the other, each with the time at which it is sent."""
    return _send(job, job.json_sales, "payment_id", _chosen(job, job.json_sales))


def batch(job: Job) -> Result:
    """Sales and orders by country."""
    return _kept(job, totals.by_country(job.topics.read(job.args.source, job.json_to_total)))


def results(job: Job) -> Result:
    """Sales and orders by country, as the stream of totals last sent them."""
    newest = totals.newest(job.topics.read(job.args.source, job.json_totals), "country")
    return _kept(job, newest.select("country", "sales", "orders"))


def avro_schemas(job: Job) -> Result:
    """Registers the schemas of both Avro topics: that of the sales is written by --sink, that of totals is --source."""
    forms = job.avro_sales(job.args.sink), job.avro_totals(job.args.source)
    return {"schemas": [one for form in forms for one in form.register()]}


def avro_produce(job: Job) -> Result:
    """As incremental, in Avro; the key is the customer."""
    form = job.avro_sales(job.args.sink)
    return _send(job, form, "customer_id", _chosen(job, form))


def avro_results(job: Job) -> Result:
    """Sales and orders by region and window, as the stream of Avro totals last sent them."""
    read = job.topics.read(job.args.source, job.avro_totals(job.args.source))
    newest = totals.newest(read, "region", "window_start")
    return _kept(job, newest.select("region", "sales", "orders", "window_start", "window_end"))


def _chosen(job: Job, form: Format) -> List[producers.Sale]:
    """The sales of the file that are to be sent. All is checked before a topic is created."""
    args = job.args
    sales = producers.parsed(storage.read_text(job.spark, args.sales), args.sales)
    held = set()
    if job.topics.exists(args.sink):
        held = {row[0] for row in job.topics.read(args.sink, form).select("payment_id").collect()}
    return producers.to_send(sales, held, args.sink, args.again, args.missing)


def _send(job: Job, form: Format, key: str, sales: List[producers.Sale], stamp: bool = True) -> Result:
    job.topics.create(job.args.sink)
    sent = 0
    for part in producers.paced(sales, job.args.rate):
        dated = [producers.dated(sale, producers.utc_now()) for sale in part] if stamp else part
        job.topics.write(job.args.sink, form, producers.as_rows(job.spark, dated), F.col(key))
        sent += len(part)
        print("sales-{}: {} of {} messages sent".format(job.args.job, sent, len(sales)), flush=True)
    return {"topic": job.args.sink, "sent": sent}


def _kept(job: Job, found: DataFrame) -> Result:
    ordered = totals.largest_first(found).persist()
    keep(ordered, job.args.results, job.args.format)
    rows = listed(ordered)
    return {"results": job.args.results, "orders": sum(row["orders"] for row in rows), "rows": rows}


JOBS: Dict[str, Callable[[Job], Result]] = {
    "seed": seed,
    "batch": batch,
    "incremental": incremental,
    "results": results,
    "avro-schemas": avro_schemas,
    "avro-produce": avro_produce,
    "avro-results": avro_results,
}
