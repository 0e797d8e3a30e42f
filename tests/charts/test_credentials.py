"""Secrets become files that only the workload can read; a wrong secret is named without being shown."""

import json
from pathlib import Path
from types import ModuleType

import pytest

AWKWARD = 'a"b\\c ${x} #=:ü😀'


def secret(folder: Path, content: object) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "secret.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_the_worker_gets_the_login_of_its_callers(write_credentials: ModuleType, tmp_path: Path) -> None:
    others(tmp_path)
    assert write_credentials.main([str(tmp_path)]) == 0
    assert {path.name: path.read_text() for path in (tmp_path / "rest").iterdir()} == {"login": "operator:o\n"}
    assert (tmp_path / "rest" / "login").stat().st_mode & 0o777 == 0o600


def test_the_worker_s_login_is_quoted_for_jaas(write_credentials: ModuleType, tmp_path: Path) -> None:
    others(tmp_path)
    secret(tmp_path / "kafka", {"username": "connect", "password": 'a"b\\c'})
    assert write_credentials.main([str(tmp_path)]) == 0
    assert (tmp_path / "kafka" / "jaas").read_text() == (
        'org.apache.kafka.common.security.scram.ScramLoginModule required username="connect" password="a\\"b\\\\c";'
    )
    assert not (tmp_path / "kafka" / "secret.json").exists()


def others(folder: Path) -> None:
    """The secret that every worker has."""
    secret(folder / "rest", {"username": "operator", "password": "o"})


def of_registry(folder: Path, name: str, content: object) -> None:
    secret(folder, content).rename(folder / f"{name}.json")


def test_the_registry_gets_java_properties(registry_properties: ModuleType, tmp_path: Path) -> None:
    of_registry(tmp_path, "database", {"username": "registry", "password": "a=b \\ $x#ü😀"})
    of_registry(tmp_path, "writer", {"username": "connect", "password": "w"})
    target = tmp_path / "registry.properties"
    assert registry_properties.main([str(tmp_path), str(target)]) == 0
    assert target.read_text() == (
        "apicurio.datasource.username=registry\n"
        "apicurio.datasource.password=a=b\\u0020\\u005c\\u0020$x#\\u00fc\\ud83d\\ude00\n"
        "quarkus.security.users.embedded.users.connect=w\n"
        "quarkus.security.users.embedded.roles.connect=sr-developer\n"
    )
    assert target.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.glob("*.json")) == []


WRONG = [
    ("hunter2", "not JSON"),
    ({"username": "u"}, "has no 'password'"),
    ({"username": "u", "password": ""}, "has no 'password'"),
    ({"username": 7, "password": "hunter2"}, "has no 'username'"),
]


@pytest.mark.parametrize(("content", "problem"), WRONG)
def test_a_wrong_secret_of_connect_is_told_but_not_shown(
    write_credentials: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str], content: object, problem: str
) -> None:
    secret(tmp_path / "rest", content)
    assert write_credentials.main([str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert "the rest secret" in said and problem in said and "hunter2" not in said


@pytest.mark.parametrize(
    ("content", "problem"),
    [*WRONG, ([], "has no 'username'"), ({"username": "u", "password": "${hunter2}"}, "would read as a reference")],
)
def test_a_wrong_secret_of_the_registry_is_told_but_not_shown(
    registry_properties: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str], content: object, problem: str
) -> None:
    of_registry(tmp_path, "database", content)
    assert registry_properties.main([str(tmp_path), str(tmp_path / "registry.properties")]) == 2
    said = capsys.readouterr().err
    assert problem in said and "hunter2" not in said
    assert not (tmp_path / "registry.properties").exists()


def test_a_writer_whose_name_is_no_word_is_refused(
    registry_properties: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    of_registry(tmp_path, "database", {"username": "registry", "password": "p"})
    of_registry(tmp_path, "writer", {"username": "a=b", "password": "hunter2"})
    assert registry_properties.main([str(tmp_path), str(tmp_path / "registry.properties")]) == 2
    said = capsys.readouterr().err
    assert "the writer secret is not plain" in said and "hunter2" not in said
