"""PostgreSQL's positions: LSNs, which it writes as two hexadecimal numbers."""

import re
from typing import Optional

from spark_jobs.sources.engine import Positions

LSN = re.compile(r"([0-9A-Fa-f]{1,8})/([0-9A-Fa-f]{1,8})")


def parse(text: str) -> Optional[int]:
    """0/1A2B3C4 as a number; None for any other text."""
    found = LSN.fullmatch(text)
    return (int(found[1], 16) << 32) + int(found[2], 16) if found else None


def text(position: int) -> str:
    """The number as 0/1A2B3C4."""
    return "{:X}/{:X}".format(position >> 32, position & 0xFFFFFFFF)


POSITIONS = Positions("LSN", "0/1A2B3C4", parse, text)
