"""What Spark refuses of a statement is the fault of its input."""

from contextlib import contextmanager
from typing import Iterator, Type

from pyspark.sql.utils import AnalysisException, ParseException

from spark_jobs.runtime.batch_job import Refused

METASTORE = "HiveException"  # its fault, not the statement's


@contextmanager
def refusals(*others: Type[Exception]) -> Iterator[None]:
    """Raises Refused, with the first line, for what Spark refuses and for others. A failing metastore is no refusal."""
    try:
        yield
    except (AnalysisException, ParseException) + others as error:
        if METASTORE in str(error):
            raise
        raise Refused(str(error).strip().splitlines()[0]) from None
