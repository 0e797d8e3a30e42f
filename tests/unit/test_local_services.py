"""What the local services render, without starting any."""

import configparser
import json
import shlex
from pathlib import Path

import pytest

from lake.config import secrets
from lake.config.environment import PROJECT, Environment, load_environment
from lake.config.errors import BadInput
from lake.local.endpoints import endpoints, flat
from lake.local.stack import SERVICES, Stack
from lake.local.supervisor import SOCKET_PATH_LIMIT

FOLDERS = ["plain", "with space", "100%(here)s", "it's"]


def make_home(monkeypatch: pytest.MonkeyPatch, data: Path) -> Environment:
    monkeypatch.setenv("LAKE_DATA_DIR", str(data))
    monkeypatch.setenv("LAKE_PORT_BASE", "29100")
    home = load_environment()
    secrets.load_or_create(home.secrets_path)
    return home


def section(home: Environment, name: str) -> configparser.SectionProxy:
    """What supervisord is told of the service that it keeps."""
    config = configparser.ConfigParser(interpolation=None)
    config.read_string(Stack(home).supervisors[name].render())
    assert [one for one in config.sections() if one.startswith("program:")] == [f"program:{name}"]
    return config[f"program:{name}"]


@pytest.mark.parametrize("folder", FOLDERS)
def test_commands_survive_the_configuration_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, folder: str) -> None:
    home = make_home(monkeypatch, tmp_path / folder)
    for service in SERVICES:
        line = section(home, service.name)["command"].replace("%%", "%")
        assert shlex.split(line) == service(home).program().command


def test_what_dies_is_started_again_without_an_end(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """supervisord gives up after startretries starts that die within startsecs: twenty are over in minutes."""
    home = make_home(monkeypatch, tmp_path)
    for service in SERVICES:
        assert int(section(home, service.name)["startretries"]) > 10**5


def test_configuration_holds_no_secret(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    home = make_home(monkeypatch, tmp_path)
    text = "".join(supervisor.render() for supervisor in Stack(home).supervisors.values())
    assert [name for name, value in vars(home.secrets).items() if value in text] == []


def test_every_address_is_loopback(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    values = flat(endpoints(make_home(monkeypatch, tmp_path)))
    addresses = [
        "postgres.dsn",
        "kafka.bootstrap",
        "connect.url",
        "registry.url",
        "s3.endpoint",
        "metastore.uri",
    ]
    assert all("127.0.0.1:291" in values[key] for key in addresses)
    assert values["s3.bucket"] == "lake"


def test_long_folder_moves_the_socket(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    home = make_home(monkeypatch, tmp_path / ("d" * 100))
    sockets = {supervisor.socket for supervisor in Stack(home).supervisors.values()}
    assert len(sockets) == len(SERVICES)
    assert all(len(str(far)) <= SOCKET_PATH_LIMIT and not far.is_relative_to(home.data) for far in sockets)


def test_a_service_waits_only_for_services_that_start_before_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    names = {service.name for service in SERVICES}
    home = make_home(monkeypatch, tmp_path)
    started: set[str] = set()
    for service in sorted((service(home) for service in SERVICES), key=lambda item: len(item.needs)):
        assert set(service.needs) <= started
        started.add(service.name)
    assert started == names


def test_secrets_are_made_once_and_private(tmp_path: Path) -> None:
    path = tmp_path / "secrets.json"
    made = secrets.load_or_create(path)
    assert secrets.load_or_create(path) == made
    assert path.stat().st_mode & 0o777 == 0o600
    assert len(set(vars(made).values())) == 11
    assert made.postgres not in repr(made)


def test_an_older_lake_gets_the_secret_that_came_later(tmp_path: Path) -> None:
    path = tmp_path / "secrets.json"
    before = vars(secrets.load_or_create(path))
    later = {"registry_writer", "connect_operator"}
    path.write_text(json.dumps({name: value for name, value in before.items() if name not in later}))
    after = vars(secrets.load_or_create(path))
    assert {name for name in after if after[name] != before[name]} == later


@pytest.mark.parametrize("content", ["{", "[]", '{"postgres": "a"}'])
def test_broken_secrets_are_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "secrets.json").write_text(content)
    with pytest.raises(BadInput, match="secrets cannot be read"):
        secrets.load(tmp_path / "secrets.json")


def test_secrets_of_another_user_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: object) -> str:
        raise PermissionError(13, "Permission denied")

    path = tmp_path / "secrets.json"
    path.write_text("{}")
    monkeypatch.setattr(Path, "read_text", denied)
    for read in (secrets.load, secrets.load_or_create):
        with pytest.raises(BadInput, match=r"belong to another user; .*secrets.json; .*LAKE_DATA_DIR"):
            read(path)


def test_unknown_service_lists_the_known_ones(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"no service .zookeeper.*postgres, kafka"):
        Stack(make_home(monkeypatch, tmp_path)).service("zookeeper")


def test_project_is_the_checkout() -> None:
    assert (PROJECT / "pom.xml").exists()
