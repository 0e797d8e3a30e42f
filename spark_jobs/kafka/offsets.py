"""Offsets of a topic, by partition."""

from typing import Dict


def missing_offsets(what: str, reached: Dict[str, int], end: Dict[int, int]) -> str:
    """Which partitions are not covered, or ''. reached: next offset by partition (text); end: likewise (int)."""
    behind = [
        "partition {}: {} of {}".format(partition, reached.get(str(partition), 0), offset)
        for partition, offset in sorted(end.items())
        if reached.get(str(partition), 0) < offset
    ]
    return "{} lacks {}".format(what, ", ".join(behind)) if behind else ""
