"""What a change shows: code changes no snapshot, a setting of the database changes exactly one."""

import shutil
from pathlib import Path

import pytest

from tests.synth.synthesis import ROOT, Synthesized, scrubbed, synthesize


def changed(one: Synthesized, other: Synthesized) -> list[str]:
    return [part for part in one.templates if scrubbed(one.templates[part]) != scrubbed(other.templates[part])]


def test_an_edited_job_changes_no_snapshot_but_is_deployed(dev: Synthesized, tmp_path: Path) -> None:
    for name in ("build", "jars", "node_modules", "helm", "connector_configs", "databases", "environments", "pom.xml"):
        (tmp_path / name).symlink_to(ROOT / name)
    shutil.copytree(ROOT / "spark_jobs", tmp_path / "spark_jobs", ignore=shutil.ignore_patterns("__pycache__"))
    with (tmp_path / "spark_jobs/hudi/table.py").open("a") as job:
        job.write("\n# edited\n")
    edited = synthesize("dev", root=tmp_path)
    assert changed(edited, dev) == []
    assert edited.templates["processing"] != dev.templates["processing"]  # a new step, so the job starts again


def test_a_parameter_of_the_database_changes_one_snapshot(
    dev: Synthesized, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from lake_constructs import postgres_source

    monkeypatch.setitem(postgres_source.PARAMETERS, "max_wal_senders", "20")
    (tmp_path / "environments").symlink_to(ROOT / "environments")
    assert changed(synthesize("dev", tmp_path), dev) == ["source"]


def test_the_same_input_gives_the_same_templates(dev: Synthesized, tmp_path: Path) -> None:
    (tmp_path / "environments").symlink_to(ROOT / "environments")
    assert synthesize("dev", tmp_path).templates == dev.templates
