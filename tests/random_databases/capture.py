"""Random databases are captured as a user does it, by `lake init`."""

import json
from collections.abc import Sequence
from typing import Any

from tests.random_databases.database import RandomDatabase
from tests.running_lake import RunningLake


def by_init(lake: RunningLake, databases: Sequence[RandomDatabase]) -> dict[str, dict[str, str]]:
    """What was left out, with the reason, by database and relation. One apply is for all."""
    lake.databases.mkdir(exist_ok=True)
    left_out = {one.name: _left_out(_init(lake, one.name)) for one in databases}
    lake.run("apply", check=False)
    return left_out


def _init(lake: RunningLake, database: str) -> dict[str, Any]:
    """Where no table can be captured, nothing is written, and the check alone says why."""
    done = lake.run("init", database, "--yes", "--json", check=False)
    facts = json.loads(done.stdout) if done.stdout else lake.json("init", database, "--check")
    return dict(facts)


def _left_out(facts: dict[str, Any]) -> dict[str, str]:
    left = (one for one in facts["tables"] if not one["chosen"] or facts["reasons"])
    return {one["table"]: "; ".join(reason["what"] for reason in [*one["reasons"], *facts["reasons"]]) for one in left}
