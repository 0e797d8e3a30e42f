"""The results on the console, on S3, and as JSON."""

import json
from typing import Any, Callable, Dict, List

from pyspark.sql import DataFrame

from spark_jobs.runtime import storage
from spark_jobs.sales.totals import largest_first

SHOWN = 25
FORMATS: Dict[str, Dict[str, Any]] = {"csv": {"header": True, "sep": "|"}, "parquet": {}}


def keep(totals: DataFrame, folder: str, form: str) -> None:
    """Shows the first rows, and replaces the folder by one file of all rows. form: of FORMATS."""
    totals.show(SHOWN, truncate=False)
    totals.coalesce(1).write.mode("overwrite").format(form).options(**FORMATS[form]).save(folder)


def keep_each(folder: str, form: str) -> Callable[[DataFrame, int], None]:
    """What a stream does with each batch: it keeps it in <folder>/batch=<number>.

    A batch that comes again after a crash has the same number, the same messages and the same time, and replaces its
    folder. The first one replaces all: without a checkpoint, what is there is of an earlier stream.
    """

    def write(batch: DataFrame, number: int) -> None:
        if number == 0:
            storage.delete(batch.sparkSession, folder)
        # Persisted: for each action, Spark would read all messages again.
        totals = largest_first(batch.coalesce(1)).persist()
        keep(totals, "{}/batch={:09d}".format(folder, number), form)
        totals.unpersist()

    return write


def listed(totals: DataFrame) -> List[Dict[str, Any]]:
    """The rows as JSON has them. Money is text ("1379.05"): many readers parse a number into 64 bits."""
    columns = ["CAST(sales AS string) AS sales" if name == "sales" else name for name in totals.columns]
    return [json.loads(line) for line in totals.selectExpr(*columns).toJSON().collect()]
