"""Passwords of jobs: a variable, or the whole secret that EMR Serverless puts into another one."""

import pytest

from spark_jobs.runtime.passwords import password


def test_a_variable_holds_the_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAKE_X_PASSWORD", '{"password": "not JSON to anybody"}')
    assert password("LAKE_X_PASSWORD") == '{"password": "not JSON to anybody"}'


def test_or_the_secret_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LAKE_X_PASSWORD", raising=False)
    monkeypatch.setenv("LAKE_X_SECRET", '{"username": "u", "password": "p"}')
    assert password("LAKE_X_PASSWORD") == "p"
