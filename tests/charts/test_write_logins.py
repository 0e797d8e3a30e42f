"""Secrets become logins for psql and SCRAM verifiers; a wrong secret is named without being shown."""

import json
from pathlib import Path
from types import ModuleType

import pytest


def secret(folder: Path, name: str, content: object) -> None:
    (folder / name).mkdir()
    (folder / name / "secret.json").write_text(content if isinstance(content, str) else json.dumps(content))


def run(program: ModuleType, folder: Path, authorities: str = "") -> int:
    return int(program.main([str(folder), "db.example", "5432", "verify-full", authorities]))


def test_each_secret_is_a_section_and_each_user_but_the_administrator_has_a_verifier(
    write_logins: ModuleType, tmp_path: Path
) -> None:
    secret(tmp_path, "admin", {"username": "lake_admin", "password": "a=b c", "host": "ignored"})
    secret(tmp_path, "lake_capture", {"username": "lake_capture", "password": "p"})
    assert run(write_logins, tmp_path, "/etc/ca.pem") == 0
    assert (tmp_path / "pg_service.conf").read_text() == (
        "[admin]\nhost=db.example\nport=5432\nsslmode=verify-full\nsslrootcert=/etc/ca.pem\n"
        "user=lake_admin\npassword=a=b c\n"
        "\n[lake_capture]\nhost=db.example\nport=5432\nsslmode=verify-full\nsslrootcert=/etc/ca.pem\n"
        "user=lake_capture\npassword=p\n"
    )
    assert [path.name for path in tmp_path.glob("*.verifier")] == ["lake_capture.verifier"]
    assert {path.stat().st_mode & 0o777 for path in tmp_path.glob("*.*")} == {0o600}
    assert list(tmp_path.glob("*/secret.json")) == []


def test_without_an_authority_psql_is_told_of_none(write_logins: ModuleType, tmp_path: Path) -> None:
    secret(tmp_path, "admin", {"username": "lake_admin", "password": "p"})
    assert run(write_logins, tmp_path) == 0
    assert "sslrootcert" not in (tmp_path / "pg_service.conf").read_text()


def test_a_verifier_is_that_of_the_standard(write_logins: ModuleType) -> None:
    """The keys of RFC 7677's example: user "user", password "pencil", 4096 rounds."""
    import base64

    salt = base64.b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")
    made = write_logins.verifier("pencil", salt)
    assert made == (
        "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$"
        "WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU="
    )


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("hunter2", "not JSON"),
        ([], "has no 'username'"),
        ({"username": "registry"}, "has no 'password'"),
        ({"username": "registry", "password": 7}, "has no 'password'"),
        ({"username": "registry", "password": "hunter2\n"}, "not plain ASCII"),
        ({"username": "registry", "password": " hunter2"}, "outer spaces"),
        ({"username": "registry", "password": "hünter2"}, "not plain ASCII"),
        ({"username": "postgres", "password": "hunter2"}, "that of another user"),
    ],
)
def test_a_wrong_secret_is_told_but_not_shown(
    write_logins: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str], content: object, problem: str
) -> None:
    secret(tmp_path, "registry", content)
    assert run(write_logins, tmp_path) == 2
    said = capsys.readouterr().err
    assert "registry" in said and problem in said and "nter2" not in said
    assert not (tmp_path / "pg_service.conf").exists()
