"""What a change shows: code changes no snapshot, a setting of the database changes exactly one."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.synth.rights import text
from tests.synth.synthesis import ROOT, Synthesized, scrubbed, synthesize, varied


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


def cluster(lake: Synthesized) -> dict[str, Any]:
    """The cluster itself, and the references in it as they are: another hash in it makes another cluster."""
    return lake.only("AWS::EMR::Cluster")


def test_a_new_job_changes_no_cluster(dev: Synthesized, tmp_path: Path) -> None:
    """A cluster with other arguments of a bootstrap action is another cluster, and ends all jobs."""
    jobs = {"stream": {"layers": ["silver"]}, "bronze": {"layers": ["bronze"]}}
    more = varied(tmp_path, "dev", {"processing": {"jobs": jobs}})
    assert sorted(step["Name"] for _, step in more.resources("AWS::EMR::Step")) == ["bronze", "stream"]
    assert cluster(more) == cluster(dev)


def test_an_edited_reporter_changes_no_cluster_but_is_deployed(
    dev: Synthesized, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from lake_constructs import job_code

    shutil.copytree(job_code.SCRIPTS, tmp_path / "scripts")
    with (tmp_path / "scripts/report_freshness.py").open("a") as reporter:
        reporter.write("# edited\n")
    (tmp_path / "environments").symlink_to(ROOT / "environments")
    monkeypatch.setattr(job_code, "SCRIPTS", tmp_path / "scripts")
    edited = synthesize("dev", tmp_path)
    assert cluster(edited) == cluster(dev)
    assert sheet(edited)["reporter"]["program"] != sheet(dev)["reporter"]["program"]
    assert sheet(edited)["reporter"]["jobs"] == sheet(dev)["reporter"]["jobs"] == ["stream"]


def sheet(lake: Synthesized) -> dict[str, Any]:
    """What the nodes and the command line read of the deployment."""
    (found,) = [one for _, one in lake.resources("AWS::SSM::Parameter") if one.get("Name") == "/lake/dev/sheet"]
    return dict(json.loads(text(found["Value"])))


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
