"""`lake verify`: what it tells while the job compares."""

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from lake.config.environment import Environment
from lake.config.errors import BadInput
from lake.config.secrets import Secrets
from lake.local import parity
from lake.local.spark_job import END_BYTES, last_progress, new_log

NOISE = "26/11/22 10:00:00 WARN Utils: verify: is not at the beginning\n"
APPLIED = {"tables": [{"database": "shop", "schema": "public", "table": "a"}]}
TOLD = "verify:    3.1 s  shop.public.a: 7 rows of cow\n"


@pytest.fixture
def home(tmp_path: Path) -> Environment:
    made = Environment(name="local", root=tmp_path)
    made.logs.mkdir(parents=True)
    made.secrets_path.write_text(json.dumps({one.name: "x" for one in fields(Secrets)}))
    return made


@pytest.mark.parametrize(
    ("log", "told"),
    [
        pytest.param("", "", id="empty"),
        pytest.param(NOISE, "", id="noise alone"),
        pytest.param(f"verify: 1 s  first\n{TOLD}{NOISE}", TOLD.strip(), id="the last before the noise"),
        pytest.param(TOLD + NOISE * (END_BYTES // len(NOISE) + 1), "", id="too long ago"),
    ],
)
def test_the_last_word_of_a_job(home: Environment, log: str, told: str) -> None:
    path = new_log(home, "verify")
    path.write_text(log)
    assert last_progress(path, "verify") == told


def test_a_long_proof_tells_how_far_it_is(home: Environment, monkeypatch: pytest.MonkeyPatch) -> None:
    def run_job(*_: Any, watch: Any) -> dict[str, Any]:
        log = new_log(home, "verify")
        log.write_text("verify:   9.0 s  waiting: partition 0 [/of x]\n" + NOISE)
        watch(log)
        return {"equal": True}

    said: list[str] = []
    monkeypatch.setattr(parity, "load_databases", lambda root: [])
    monkeypatch.setattr(parity, "read_pipeline", lambda _: APPLIED)
    monkeypatch.setattr(parity, "run_job", run_job)
    assert parity.compare(home, ["shop"], 1, said.append) == {"equal": True}
    assert said == ["starting Spark", "verify:   9.0 s  waiting: partition 0 [/of x]"]


def test_an_unknown_table_is_refused_before_spark_starts(home: Environment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parity, "read_pipeline", lambda _: APPLIED)
    with pytest.raises(BadInput, match=r"no table or database 'shop\.b' in the lake; .* choose from: shop\.a"):
        parity.compare(home, ["shop.b"], 1, lambda line: pytest.fail(line))
