"""PostgreSQL as an engine, and its positions: LSNs, which it writes as two hexadecimal numbers."""

import re
from typing import Optional

from spark_jobs.sources.engine import Engine, Positions
from spark_jobs.sources.postgres.avro_types import converted
from spark_jobs.sources.postgres.load import load
from spark_jobs.sources.postgres.reader import any_of, source_of
from spark_jobs.sources.postgres.types import pg_type, reads_back

LSN = re.compile(r"([0-9A-Fa-f]{1,8})/([0-9A-Fa-f]{1,8})")


def parse(text: str) -> Optional[int]:
    """0/1A2B3C4 as a number; None for any other text."""
    found = LSN.fullmatch(text)
    return (int(found[1], 16) << 32) + int(found[2], 16) if found else None


def text(position: int) -> str:
    """The number as 0/1A2B3C4."""
    return "{:X}/{:X}".format(position >> 32, position & 0xFFFFFFFF)


POSITIONS = Positions("LSN", "0/1A2B3C4", parse, text)
ENGINE = Engine(converted, source_of, pg_type, reads_back, any_of, POSITIONS, load)
