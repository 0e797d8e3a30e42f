"""Why a process ended, by the end of its log: nobody reads a log to find out that something is wrong."""

import re
import time
from collections.abc import Iterator
from pathlib import Path

from lake.config.files import last_lines

END_BYTES = 64 * 1024
ERROR = re.compile(r"^(?P<at>[\d/-]+ [\d:]+)[.,]?\d* ERROR (?P<text>\S.*)$")
AT = "%Y-%m-%d %H:%M:%S"  # of the streaming job
ENDS = ("this job ends", "refused: ")  # spark_jobs/streaming/streaming_job.py, spark_jobs/stream.py
SHOWN = 300  # characters


def last_error(log: Path) -> str:
    """The last error in the end of a log; "" without one."""
    return next((one["text"][:SHOWN] for one in _errors(log)), "")


def why_it_ended(log: Path, within_s: float) -> str:
    """Why the streaming job ended a moment ago; "" if it did not."""
    for one in _errors(log):
        if any(words in one["text"] for words in ENDS):
            ended = time.mktime(time.strptime(one["at"], AT))
            return one["text"][:SHOWN] if time.time() - ended <= within_s else ""
    return ""


def _errors(log: Path) -> Iterator[re.Match[str]]:
    """The last one first."""
    lines = last_lines(log, END_BYTES) if log.exists() else []
    return (found for line in reversed(lines) if (found := ERROR.match(line)))
