"""What an environment file means once it is read."""

import re
from pathlib import Path

import pytest

from lake.config.definition import load_database
from lake.config.environment import Environment, Silver, load_environment
from lake.config.errors import BadInput
from lake.rendering.hudi import hudi_options

PROJECT = Path(__file__).parents[2]


def test_the_local_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LAKE_PORT_BASE", raising=False)
    local = load_environment()
    assert (local.name, local.bucket, local.kafka.partitions) == ("local", "lake", 1)
    assert (local.bronze.trigger_s, local.bronze.max_records) == (60, 10_000)
    assert local.data == PROJECT / ".lake"


def test_nine_ports_follow_the_base(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAKE_PORT_BASE", "28000")
    ports = load_environment().ports
    assert (ports.postgres, ports.kafka, ports.kafka_controller) == (28000, 28001, 28002)
    assert (ports.connect, ports.registry, ports.registry_management) == (28003, 28004, 28005)
    assert (ports.s3, ports.metastore, ports.kafka_login) == (28006, 28007, 28008)


def test_another_folder_of_environments(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "local.yaml").write_text("name: local\nbronze:\n  trigger_s: 7\n")
    monkeypatch.setenv("LAKE_ENVIRONMENTS_DIR", str(tmp_path))
    assert load_environment().bronze.trigger_s == 7


def test_a_release_is_chosen_by_a_variable_or_by_the_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert (load_environment().release, load_environment().spark_build) == ("emr-6.15.0", PROJECT / "build")
    (tmp_path / "local.yaml").write_text("name: local\nrelease: emr-7.10.0\n")
    monkeypatch.setenv("LAKE_ENVIRONMENTS_DIR", str(tmp_path))
    assert load_environment().spark_build == PROJECT / "build/emr-7.10.0"
    monkeypatch.setenv("LAKE_RELEASE", "emr-6.15.0")
    assert load_environment().release == "emr-6.15.0"


def test_another_release_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LAKE_RELEASE", "emr-7.9.0")
    told = "'emr-7.9.0' does not run on this machine; environment variable LAKE_RELEASE; choose one of emr-6.15.0"
    with pytest.raises(BadInput, match=re.escape(told)):
        load_environment()
    monkeypatch.delenv("LAKE_RELEASE")
    (tmp_path / "local.yaml").write_text("name: local\nrelease: emr-9\n")
    monkeypatch.setenv("LAKE_ENVIRONMENTS_DIR", str(tmp_path))
    with pytest.raises(BadInput, match=r"'emr-9' is not known here; .*local\.yaml:2, key release; choose one of emr-6"):
        load_environment()


def test_a_budget_of_log_ascends(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "local.yaml"
    monkeypatch.setenv("LAKE_ENVIRONMENTS_DIR", str(tmp_path))
    path.write_text("name: local\nwal: {warn_bytes: 10, pause_bytes: 20, drop_bytes: 30}\n")
    assert load_environment().wal.pause_bytes == 20
    path.write_text("name: local\nwal: {warn_bytes: 10, pause_bytes: 5, drop_bytes: 30}\n")
    with pytest.raises(BadInput, match="do not ascend"):
        load_environment()


def test_history_is_a_span_of_time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LAKE_ENVIRONMENTS_DIR", str(tmp_path))
    (tmp_path / "local.yaml").write_text("name: local\nsilver: {history: 2h}\n")
    assert load_environment().silver.history == 7200
    (tmp_path / "local.yaml").write_text("name: local\nsilver: {history: 600}\n")
    with pytest.raises(BadInput, match=r"'600' is not a span of time; .*key silver.history; write 90s, 10m, 2h or 7d"):
        load_environment()


def test_history_is_kept_before_it_is_archived() -> None:
    """Archived commits can't be read back to (F33)."""
    environment = Environment(name="local", root=PROJECT, silver=Silver(history_commits=400))
    database = load_database(PROJECT / "databases" / "moma.yaml")
    options = hudi_options(
        hive_database="moma_cow", table=database.tables[0], table_type="cow", environment=environment
    )
    names = ("hoodie.cleaner.commits.retained", "hoodie.keep.min.commits", "hoodie.keep.max.commits")
    assert [int(options[name]) for name in names] == [400, 410, 430]
