"""Errors in one line, without the two stack traces that Py4J and Spark add."""

from typing import Any, List

LONGEST = 500
TRACE = "Traceback (most recent call last):"


def root_cause(error: Any) -> str:
    """The line that says what is wrong: a Python exception of ours, else the innermost one of the JVM.

    error: an exception, or Spark's report of a failed query. Without a message, the line is its class.
    """
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    ours = [line for line in lines if line.startswith("spark_jobs.")]
    caused = [line for line in lines if line.startswith("Caused by:")]
    raised = [line for line in lines if line.startswith("pyspark.")]
    java = [line[2:] for line in lines if line.startswith(": ")]  # Py4J: "An error occurred while calling o1.x."
    known = ours[-1:] or caused[-1:] or raised[-1:] or java or _raised(str(error)) or lines or [type(error).__name__]
    return known[0][:LONGEST]


def _raised(text: str) -> List[str]:
    """The line below the last stack trace of Python, if there is one: what was raised, not what was handled before."""
    if TRACE not in text:
        return []
    below = text.rpartition(TRACE)[2].splitlines()
    return [line for line in below if line[:1].strip()][:1]
