"""Producers: the sales of a file, sent at once or at a rate."""

import csv
import time
from datetime import datetime, timedelta, timezone
from decimal import Decimal, InvalidOperation
from typing import Callable, Dict, Iterator, List, Set

from pyspark.sql import DataFrame, SparkSession

from spark_jobs.runtime.batch_job import Refused
from spark_jobs.runtime.frames import few
from spark_jobs.sales.schema import SALE

Sale = Dict[str, str]  # a line of a file, by the names of its columns


def parsed(text: str, name: str) -> List[Sale]:
    """The sales of a file, in its order. Refused with the line that is none. text: header line, delimiter |."""
    lines = csv.DictReader(text.splitlines(), delimiter="|")
    if tuple(lines.fieldnames or ()) != tuple(SALE):
        raise Refused("{}: the header line must be {}".format(name, "|".join(SALE)))
    return [_checked(sale, "{}:{}".format(name, lines.line_num)) for sale in lines]


def _checked(sale: Sale, where: str) -> Sale:
    try:
        int(sale["payment_id"]), int(sale["customer_id"]), Decimal(sale["amount"])
    except (ValueError, TypeError, InvalidOperation):
        raise Refused("{}: payment_id, customer_id and amount must be numbers".format(where)) from None
    if None in sale.values() or None in sale or not sale["country"]:
        raise Refused("{}: a sale has {} fields, and a country".format(where, len(SALE)))
    return sale


def to_send(sales: List[Sale], held: Set[int], topic: str, again: bool, missing: bool) -> List[Sale]:
    """The sales that are sent. held: the payments that the topic holds. Refused if it holds one of them, unless asked:
    each would count twice. again: all once more. missing: those that it does not hold."""
    absent = [sale for sale in sales if int(sale["payment_id"]) not in held]
    if again or len(absent) == len(sales):
        return sales
    if missing:
        return absent
    there = "topic {} already holds {} of these {} sales".format(topic, len(sales) - len(absent), len(sales))
    raise Refused(there + ": --missing sends the others, --again all of them once more, which doubles their totals")


def just_sold(sales: List[Sale], now: datetime) -> List[Sale]:
    """The sales with new times: one a second, the last one a second ago."""
    count = len(sales)
    return [dated(sale, now - timedelta(seconds=count - index)) for index, sale in enumerate(sales)]


def dated(sale: Sale, moment: datetime) -> Sale:
    return dict(sale, payment_date=moment.isoformat())


def paced(
    sales: List[Sale],
    rate: float,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[List[Sale]]:
    """Parts of the sales when they are due: `rate` a second, or all at once if it is 0. A late part is a larger one."""
    began, sent = clock(), 0
    while sent < len(sales):
        due = min(len(sales), int((clock() - began) * rate) + 1) if rate else len(sales)
        if due > sent:
            yield sales[sent:due]
            sent = due
        else:
            sleep(max(0.0, began + sent / rate - clock()))


def as_rows(spark: SparkSession, sales: List[Sale]) -> DataFrame:
    """The sales as rows of SALE."""
    texts = few(spark, [[sale[name] for name in SALE] for sale in sales], dict.fromkeys(SALE, "string"))
    return texts.selectExpr(*("CAST({0} AS {1}) AS {0}".format(name, kind) for name, kind in SALE.items()))


def utc_now() -> datetime:
    return datetime.now(timezone.utc)
