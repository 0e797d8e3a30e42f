"""Columns that the lake has as hashes only: the source's values are hashed in the same way, and never shown."""

import hmac
import os
from hashlib import sha256
from typing import Optional

from pyspark.sql import Column
from pyspark.sql import functions as F

from spark_jobs.runtime.batch_job import Refused
from spark_jobs.runtime.passwords import password
from spark_jobs.sources.engine import ColumnType

SECRET = "LAKE_HASH_PASSWORD"  # the variable that has the key


def hashed(kind: ColumnType) -> ColumnType:
    """The type of a column whose values are hashed. Raises Refused without the key.

    A function of Python and not Spark's own: their arguments are shown in plans and in the log of events.
    """
    key = secret().encode("utf-8")

    def of_text(text: Optional[str]) -> Optional[str]:
        return None if text is None else hmac.new(key, text.encode("utf-8"), sha256).hexdigest()

    function = F.udf(of_text, "string")
    return ColumnType("string", kind.sql, lambda column: function(kind.source(column)), _same)


def secret() -> str:
    if SECRET not in os.environ and SECRET.replace("PASSWORD", "SECRET") not in os.environ:
        raise Refused("columns are hashed, and this job has no key to compare them: {} is not set".format(SECRET))
    return password(SECRET)


def _same(column: Column) -> Column:
    return column
