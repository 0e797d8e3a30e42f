"""A server that a definition names: its address and TLS reach every client, its password reaches no file or message."""

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import psycopg
import pytest

from lake.config.definition import Database, load_database
from lake.config.environment import Environment
from lake.config.errors import BadInput
from lake.config.secrets import Secrets
from lake.rendering.pipeline import pipeline
from lake.sources.connector import source_connector
from lake.sources.postgres import connection
from lake.sources.postgres.connection import connect_source
from lake.sources.postgres.login import login

ROOT = Path(__file__).parents[2]
HIDDEN = "hunter2"


def shop(folder: Path, source: str) -> Database:
    path = folder / "shop.yaml"
    path.write_text(f"database: shop\nsource: {source}\ntables:\n  public.a: {{key: [id]}}\n")
    return load_database(path)


@pytest.fixture
def place(tmp_path: Path) -> Environment:
    (tmp_path / "secrets.json").write_text(json.dumps({one.name: "own" for one in fields(Secrets)}))
    return Environment(name="local", root=ROOT, port_base=27000, data_dir=str(tmp_path))


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("{host: h, password: hunter2}", "a password does not belong into a definition"),
        ("{host: h, password: {value: hunter2}}", "not the place of a password"),
        ("{host: h, password: {env: hunter2!}}", "not the name of an environment variable"),
        ("postgresql://u:hunter2@h/shop", "a source has keys of its own"),
        ("{host: 'postgresql://u:hunter2@h/shop'}", "not the name or the address of a host"),
        ("{host: h, sslmode: verify-full}", "needs the authorities"),
        ("{host: h, port: 70000}", "port"),
    ],
)
def test_a_wrong_source_is_refused_and_shows_no_password(source: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=says) as refused:
        shop(tmp_path, source)
    assert HIDDEN not in str(refused.value)


@pytest.mark.parametrize(
    ("source", "tls"),
    [
        ("{host: h}", {"sslmode": "require"}),
        ("{host: h, sslmode: disable}", {"sslmode": "disable"}),
        ("{host: h, ca_file: ca.pem}", {"sslmode": "verify-full", "sslrootcert": "ca.pem"}),
        ("{host: h, ca_file: ca.pem, sslmode: verify-ca}", {"sslmode": "verify-ca", "sslrootcert": "ca.pem"}),
    ],
)
def test_every_client_checks_the_server_alike(
    source: str, tls: dict[str, str], tmp_path: Path, place: Environment
) -> None:
    found = {key: text.replace("ca.pem", str(tmp_path / "ca.pem")) for key, text in tls.items()}
    database = shop(tmp_path, source)
    assert login(place, database.source) == {"host": "h", "port": 5432, "user": "postgres", **found}
    settings = source_connector(database, place)
    assert {key: settings[f"database.{key}"] for key in found} == found
    assert (settings["database.hostname"], settings["database.port"]) == ("h", "5432")
    (url,) = pipeline([database], place)["sources"].values()
    assert url.startswith(f"jdbc:postgresql://h:5432?sslmode={found['sslmode']}")


def test_the_lake_has_a_server_of_its_own_unless_the_definition_names_one(tmp_path: Path, place: Environment) -> None:
    path = tmp_path / "shop.yaml"
    path.write_text("database: shop\ntables:\n  public.a: {key: [id]}\n")
    database = load_database(path)
    assert login(place, database.source) == {"host": "127.0.0.1", "port": 27000, "user": "postgres", "password": "own"}
    assert "sources" not in pipeline([database], place)
    assert "database.sslmode" not in source_connector(database, place)


def test_a_password_is_the_first_line_of_a_file(tmp_path: Path, place: Environment) -> None:
    (tmp_path / "word").write_text(f"{HIDDEN}\n")
    database = shop(tmp_path, "{host: h, user: boss, password: {file: word}}")
    given = login(place, database.source)
    assert (given["user"], given["password"]) == ("boss", HIDDEN)
    assert HIDDEN not in json.dumps([source_connector(database, place), pipeline([database], place)])


def test_what_a_variable_had_is_kept_for_the_guardian(
    tmp_path: Path, place: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = shop(tmp_path, "{host: h, password: {env: SHOP_PASSWORD}}")
    with pytest.raises(BadInput, match="environment variable SHOP_PASSWORD; set it"):
        login(place, database.source)
    monkeypatch.setenv("SHOP_PASSWORD", HIDDEN)
    assert login(place, database.source)["password"] == HIDDEN
    monkeypatch.delenv("SHOP_PASSWORD")
    assert login(place, database.source)["password"] == HIDDEN
    assert (tmp_path / "sources.json").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('FATAL:  password authentication failed for user "boss"', "refuses the password of user boss; .* at h:5432"),
        ("fe_sendauth: no password supplied", "needs a password; .*source.password, or fill ~/.pgpass"),
        ('FATAL:  no pg_hba.conf entry for host "10.0.0.1"', "admits no connection of boss to shop"),
        ("server does not support SSL, but SSL was required", "it has no TLS; .*sslmode: disable"),
        ("SSL error: certificate verify failed", "certificate is of another authority"),
        ("could not translate host name", "no connection: could not translate host name"),
    ],
)
def test_a_server_that_refuses_is_explained(
    text: str, says: str, tmp_path: Path, place: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(**_: Any) -> None:
        raise psycopg.OperationalError(text)

    monkeypatch.setattr(connection.psycopg, "connect", refuse)
    database = shop(tmp_path, "{host: h, user: boss}")
    with pytest.raises(BadInput, match=says), connect_source(place, database):
        pass
