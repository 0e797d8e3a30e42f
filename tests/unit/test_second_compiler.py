"""Which code of a long job the second just-in-time compiler takes."""

import json
from fnmatch import fnmatchcase

import pytest

from lake.local.spark_submit import SECOND_COMPILER, long_job


def excluded(method: str) -> bool:
    """As JEP 165 says: the first directive that matches a method counts."""
    directives = json.loads(SECOND_COMPILER.read_text(encoding="utf-8"))
    first = next(one for one in directives if any(fnmatchcase(method, pattern) for pattern in one["match"]))
    return bool(first["c2"]["Exclude"])


@pytest.mark.parametrize(
    "method",
    [
        "lake/stream/PlainBatch.keep",
        "org/apache/avro/generic/GenericDatumReader.readRecord",
        "org/apache/spark/sql/catalyst/expressions/GeneratedClass$SpecificUnsafeProjection.apply",
        "sun/security/provider/SHA2.implCompress",  # without it, S3's signatures took four seconds per million changes
    ],
)
def test_code_that_handles_rows_is_compiled_well(method: str) -> None:
    assert not excluded(method)


@pytest.mark.parametrize("method", ["org/codehaus/janino/Scanner.scan", "org/apache/xbean/asm9/ClassReader.readCode"])
def test_code_that_starts_jobs_is_not(method: str) -> None:
    assert excluded(method)


def test_the_job_reads_the_file() -> None:
    assert str(SECOND_COMPILER) in long_job()["spark.driver.extraJavaOptions"]
