"""What went wrong, in one line: errors come through Py4J and Spark with two stack traces around them."""

import re
from typing import Any

LONGEST = 500
RAISED = re.compile(r"[\w.]+(Error|Exception): ")  # the last line of a stack trace of Python


def cause(error: Any) -> str:
    """The line that says what is wrong: a Python exception of ours, else the innermost one of the JVM.

    error: an exception, or what Spark says of a failed query. Its class where it says nothing.
    """
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    ours = [line for line in lines if line.startswith("spark_jobs.")]
    caused = [line for line in lines if line.startswith("Caused by:")]
    raised = [line for line in lines if line.startswith("pyspark.")]
    java = [line[2:] for line in lines if line.startswith(": ")]  # Py4J: "An error occurred while calling o1.x."
    python = [line for line in lines if RAISED.match(line)]
    return (ours or caused[-1:] or raised[-1:] or java or python[-1:] or lines or [type(error).__name__])[0][:LONGEST]
