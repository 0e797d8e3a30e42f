"""What the guardian tells: one file, read by `lake status`."""

import json
import time
from dataclasses import asdict

from lake.guard.drift import Drift
from lake.local.home import Home
from lake.local.secrets import write_private


def write(home: Home, drifts: list[Drift]) -> None:
    write_private(
        home.data / "guardian.json", json.dumps({"at": time.time(), "drifts": [asdict(one) for one in drifts]})
    )


def read(home: Home) -> list[Drift]:
    """What was told last; nothing before the guardian ever looked."""
    try:
        content = json.loads((home.data / "guardian.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return []
    return [Drift(**one) for one in content["drifts"]]
