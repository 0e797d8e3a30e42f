"""`lake logs` of a local service: the end of its log, and what comes."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from lake.cli.main import app
from lake.config.environment import load_environment
from lake.config.errors import BadInput, LakeError
from lake.deployments import local
from tests.clocks import replace_time


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A log of Connect with three lines."""
    monkeypatch.setenv("LAKE_DATA_DIR", str(tmp_path / "lake"))
    path = load_environment().log("connect")
    path.parent.mkdir(parents=True)
    path.write_bytes(b"one\ntwo \xff\nthree [bold]\n")
    return path


def test_the_end_of_a_log_is_printed_as_it_is(log: Path) -> None:
    assert CliRunner().invoke(app, ["logs", "connect", "-n", "2"]).stdout == "two \ufffd\nthree [bold]\n"


def test_what_comes_is_printed_until_ctrl_c(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    came = iter(["four\n", "fi", "ve\n"])

    def sleep(seconds: float) -> None:
        more = next(came, None)
        if more is None:
            raise KeyboardInterrupt
        with log.open("a") as file:
            file.write(more)

    replace_time(monkeypatch, local, sleep=sleep)
    followed = CliRunner().invoke(app, ["logs", "connect", "-n", "0", "--follow"])
    assert followed.stdout == "four\nfive\n"


def test_a_service_without_a_log_says_what_to_do(log: Path) -> None:
    log.unlink()
    refused = CliRunner().invoke(app, ["logs", "connect"]).exception
    assert isinstance(refused, LakeError) and not isinstance(refused, BadInput)
    assert "connect has no log yet" in str(refused) and "run: lake up" in str(refused)


def test_a_name_that_is_no_service_is_refused_with_those_there_are(log: Path) -> None:
    refused = CliRunner().invoke(app, ["logs", "conect"]).exception
    assert isinstance(refused, BadInput)
    assert "there is no service 'conect'" in str(refused) and "connect" in str(refused)
