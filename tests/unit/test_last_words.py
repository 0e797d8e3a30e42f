"""`lake status` says why the streaming job ended, from its log."""

import time
from pathlib import Path

import pytest

from lake.local.last_words import AT, last_error, why_it_ended

CLAIM = "stream the claim of shop_mor.a was renewed too late: this job ends"


def log(folder: Path, *lines: str) -> Path:
    path = folder / "stream.log"
    path.write_text("\n".join([*lines, ""]))
    return path


def at(ago_s: float) -> str:
    return time.strftime(AT, time.localtime(time.time() - ago_s))


@pytest.mark.parametrize(("ago_s", "told"), [(5, CLAIM), (3600, "")])
def test_the_reason_of_an_end_is_told_for_a_while(tmp_path: Path, ago_s: float, told: str) -> None:
    after = f"{at(0)},001 ERROR stream shop_mor.a: a table failed"
    path = log(tmp_path, "26/11/30 03:47:25 ERROR HMSDDLExecutor: no", f"{at(ago_s)},123 ERROR {CLAIM}", "trace", after)
    assert why_it_ended(path, 600) == told


def test_the_last_error_of_any_service(tmp_path: Path) -> None:
    lines = ("2026-11-30 04:24:56.662 ERROR Connect: no port", "2026-11-30 04:24:56.700 INFO ERROR Connect: stopped")
    assert last_error(log(tmp_path, *lines)) == "Connect: no port"
    assert last_error(log(tmp_path, "fine")) == last_error(tmp_path / "none") == ""
