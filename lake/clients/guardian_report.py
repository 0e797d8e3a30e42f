"""The report of the guardian: one file, which `lake status` reads."""

import json
import time
from dataclasses import asdict
from typing import Any

from lake.config.environment import Environment
from lake.config.files import replace_file
from lake.sources.drift import Drift


def write(home: Environment, drifts: list[Drift]) -> None:
    replace_file(
        home.data / "guardian.json", json.dumps({"at": time.time(), "drifts": [asdict(one) for one in drifts]})
    )


def read(home: Environment) -> list[Drift]:
    """The drifts of the last report; none before the first one."""
    return [Drift(**one) for one in _content(home)["drifts"]]


def age_s(home: Environment) -> float:
    """The age of the last report in seconds."""
    return time.time() - float(_content(home)["at"])


def _content(home: Environment) -> dict[str, Any]:
    try:
        return dict(json.loads((home.data / "guardian.json").read_text(encoding="utf-8")))
    except FileNotFoundError:
        return {"at": 0.0, "drifts": []}
