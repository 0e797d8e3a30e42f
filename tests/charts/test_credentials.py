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


def test_connect_gets_the_values_as_they_are(write_credentials: ModuleType, tmp_path: Path) -> None:
    secret(tmp_path / "database", {"username": "lake_capture", "password": AWKWARD, "host": "ignored"})
    assert write_credentials.main([str(tmp_path)]) == 0
    found = {path.name: path.read_text() for path in (tmp_path / "database").iterdir()}
    assert found == {"username": "lake_capture", "password": AWKWARD}
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "database").iterdir()} == {0o600}


def test_the_worker_s_login_is_quoted_for_jaas(write_credentials: ModuleType, tmp_path: Path) -> None:
    secret(tmp_path / "database", {"username": "u", "password": "p"})
    secret(tmp_path / "kafka", {"username": "connect", "password": 'a"b\\c'})
    assert write_credentials.main([str(tmp_path)]) == 0
    assert (tmp_path / "kafka" / "jaas").read_text() == (
        'org.apache.kafka.common.security.scram.ScramLoginModule required username="connect" password="a\\"b\\\\c";'
    )
    assert not (tmp_path / "kafka" / "secret.json").exists()


def test_the_registry_gets_java_properties(database_properties: ModuleType, tmp_path: Path) -> None:
    source = secret(tmp_path, {"username": "registry", "password": "a=b \\ $x#ü😀"})
    target = tmp_path / "database.properties"
    assert database_properties.main([str(source), str(target)]) == 0
    assert target.read_text() == (
        "apicurio.datasource.username=registry\n"
        "apicurio.datasource.password=a=b\\u0020\\u005c\\u0020$x#\\u00fc\\ud83d\\ude00\n"
    )
    assert target.stat().st_mode & 0o777 == 0o600
    assert not source.exists()


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
    secret(tmp_path / "database", content)
    assert write_credentials.main([str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert "the database secret" in said and problem in said and "hunter2" not in said


@pytest.mark.parametrize(
    ("content", "problem"),
    [*WRONG, ([], "has no 'username'"), ({"username": "u", "password": "${hunter2}"}, "would read as a reference")],
)
def test_a_wrong_secret_of_the_registry_is_told_but_not_shown(
    database_properties: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str], content: object, problem: str
) -> None:
    source = secret(tmp_path, content)
    assert database_properties.main([str(source), str(tmp_path / "database.properties")]) == 2
    said = capsys.readouterr().err
    assert problem in said and "hunter2" not in said
    assert not (tmp_path / "database.properties").exists()
