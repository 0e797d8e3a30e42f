"""What went wrong, in one line."""

import pytest

from spark_jobs.runtime.errors import root_cause

PY4J = """An error occurred while calling o29210.commitCompaction.
: org.apache.hudi.exception.HoodieCompactionException: Failed to commit
\tat org.apache.hudi.Some.java
"""

PROXY = """py4j.Py4JException: An exception was raised. Return Message: Traceback (most recent call last):
  File "a.py", line 1, in write
    raise
builtins.KeyError: 'id'
"""


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (PROXY, "builtins.KeyError: 'id'"),
        (PROXY + PROXY.replace("builtins.KeyError: 'id'", "AssertionError"), "AssertionError"),
        (
            "spark_jobs.a.Handled: b\nDuring handling of it\nspark_jobs.hudi.lease.Lost: c",
            "spark_jobs.hudi.lease.Lost: c",
        ),
        (PY4J, "org.apache.hudi.exception.HoodieCompactionException: Failed to commit"),
        (PY4J + "Caused by: java.io.IOException: a\n\tat b\nCaused by: c: d", "Caused by: c: d"),
        (
            "Writing job\npyspark.errors.X: y\nspark_jobs.events.validate.Unreadable: z",
            "spark_jobs.events.validate.Unreadable: z",
        ),
        ("plain\nand more", "plain"),
        ("", "ValueError"),
    ],
)
def test_the_line_that_says_what_is_wrong(text: str, line: str) -> None:
    assert root_cause(ValueError(text)) == line
