"""What `lake up` refuses before it changes anything."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from lake.config.environment import Environment, load_environment
from lake.config.errors import BadInput
from lake.local import preflight
from lake.local.service import Program, Service

BASE = 29200


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Environment:
    monkeypatch.setenv("LAKE_DATA_DIR", str(tmp_path / "lake"))
    monkeypatch.setenv("LAKE_PORT_BASE", str(BASE))
    return load_environment()


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", BASE + 3)):
        yield BASE + 3


class Wanting(Service):
    """Needs a file that the build does not have."""

    name = "wanting"

    def parts(self) -> list[Path]:
        return [self.home.build / "wanting" / "wanting-*.jar"]

    def program(self) -> Program:
        return Program(["true"], self.home.data)

    def ready(self) -> bool:
        return True


def test_taken_port_names_service_holder_and_remedy(home: Environment, taken: int) -> None:
    with pytest.raises(BadInput) as refused:
        preflight.check_ports(home, own=set())
    text = str(refused.value)
    assert refused.value.exit_code == 2
    assert f"port {taken} for connect is taken by" in text
    assert f"pid {os.getpid()}" in text
    assert f"LAKE_PORT_BASE={BASE + 100}" in text


def test_ports_of_our_own_leftovers_do_not_count(home: Environment, taken: int) -> None:
    preflight.check_ports(home, own={os.getpid()})


def test_missing_part_of_the_build(home: Environment) -> None:
    with pytest.raises(BadInput, match=r"wanting has no wanting-\*.jar.*make setup"):
        preflight.check_build([Wanting(home)])


def test_no_space(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"GiB free, 1048576.0 GiB needed") as refused:
        preflight.check_space(tmp_path / "not" / "there", needed=1024**5)
    assert refused.value.exit_code == 2


def test_folder_that_is_a_file(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(BadInput, match="cannot be written"):
        preflight.check_folder(file / "lake")


def test_refusal_changes_nothing(home: Environment, taken: int) -> None:
    with pytest.raises(BadInput):
        preflight.check(home, [], own=set())
    assert not home.data.exists()
