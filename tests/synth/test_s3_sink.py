"""The S3 sink connector, by option, from an archive that the operator brings."""

import hashlib
import io
import json
import shutil
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from lake.aws.environment import AwsEnvironment, load_aws_environment
from lake.aws.prerequisites import check_build
from lake.config.errors import BadInput
from spark_jobs.archive.files import OFFSET_FIELD
from tests.synth.rights import allowed, names, text
from tests.synth.synthesis import ROOT, Synthesized, scrubbed, synthesize

TOPICS = ["moma.public.artists", "moma.public.artworks", "moma.public.departments"]
GROUP = "connect-sink_s3_moma"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project with an archive of two jars, and dev with the option."""
    root = tmp_path_factory.mktemp("sink")
    for name in ("build", "jars", "node_modules", "helm", "connector_configs", "databases", "pom.xml", "spark_jobs"):
        (root / name).symlink_to(ROOT / name)
    with zipfile.ZipFile(root / "s3.zip", "w") as archive:
        for name in ("lib/a.jar", "lib/b.jar", "manifest.json"):
            archive.writestr(f"confluentinc-kafka-connect-s3-10.0.0/{name}", name)
    content = yaml.safe_load((ROOT / "environments/dev.yaml").read_text())
    digest = hashlib.sha256((root / "s3.zip").read_bytes()).hexdigest()
    content["connect"] = {"s3_sink": {"archive": "s3.zip", "sha256": digest}}
    (root / "environments").mkdir()
    (root / "environments/dev.yaml").write_text(yaml.safe_dump(content))
    return root


@pytest.fixture(scope="module")
def sunk(project: Path) -> Synthesized:
    return synthesize("dev", project, project)


def chart_values(lake: Synthesized) -> dict[str, Any]:
    charts = [one for _, one in lake.resources("Custom::AWSCDK-EKS-HelmChart") if one["Release"] == "kafka-connect"]
    return dict(json.loads(text(charts[0]["Values"])))


def test_nobody_has_it_who_did_not_ask(lake: Synthesized) -> None:
    assert list(chart_values(lake)["connectors"]) == ["source_postgres_moma"]
    assert set(allowed(lake.templates["connect"], "ConnectRole", "s3")) == {"GetObject"}


def test_it_changes_the_workers_alone(sunk: Synthesized, dev: Synthesized) -> None:
    changed = [part for part in dev.templates if scrubbed(sunk.templates[part]) != scrubbed(dev.templates[part])]
    assert set(changed) <= {"connect", "storage"} and "connect" in changed  # storage: what it lets others import
    assert sunk.failure == ""


def test_it_archives_the_topics_of_the_tables(sunk: Synthesized) -> None:
    settings = json.loads(chart_values(sunk)["connectors"]["sink_s3_moma"])
    assert settings["topics"].split(",") == TOPICS
    assert (settings["topics.dir"], settings["s3.region"]) == ("s3-sink", "eu-central-1")
    assert "Bronze" in settings["s3.bucket.name"]
    assert settings["value.converter.apicurio.registry.url"].endswith(".svc:8080/apis/registry/v2")


def test_it_may_read_the_topics_as_its_group_and_write_below_its_prefix(sunk: Synthesized) -> None:
    template = sunk.templates["connect"]
    kafka = {action: names(found) for action, found in allowed(template, "ConnectRole", "kafka-cluster").items()}
    assert "moma.*" in kafka["ReadData"] and GROUP in kafka["AlterGroup"]
    written = allowed(template, "ConnectRole", "s3")["PutObject"]
    assert {one.partition(">")[2] for one in written} == {"/s3-sink/*"}


def test_it_writes_the_offset_that_orders_the_rows(sunk: Synthesized) -> None:
    """HoodieStreamer needs it; the files of our own archive have it, too."""
    settings = json.loads(chart_values(sunk)["connectors"]["sink_s3_moma"])
    assert settings["transforms.offset.type"] == "org.apache.kafka.connect.transforms.InsertField$Value"
    assert settings["transforms.offset.offset.field"] == f"{OFFSET_FIELD}!"


def test_hoodie_streamer_may_read_its_files_instead_of_the_archive(project: Path, tmp_path: Path) -> None:
    content = yaml.safe_load((project / "environments/dev.yaml").read_text())
    content["processing"] = {"jobs": ["stream", "streamer"], "streamer": {"source": "s3_sink", "types": ["cow"]}}
    (tmp_path / "environments").mkdir()
    (tmp_path / "environments/dev.yaml").write_text(yaml.safe_dump(content))
    lake = synthesize("dev", tmp_path, project)
    assert lake.failure == ""
    read = allowed(lake.templates["processing"], "Nodes", "s3")
    assert [one for one in read["GetObject"] if one.endswith("/s3-sink/*")] != []
    assert [one for one in read["PutObject"] if "s3-sink" in one] == []
    roots = [
        line
        for path in lake.folder.glob("asset.*.json")
        for content in json.loads(path.read_text()).get("files", {}).values()
        for line in content.splitlines()
        if "source.dfs.root" in line
    ]
    assert roots and all("=s3://@BRONZE@/s3-sink/moma.public." in line for line in roots)


def test_its_jars_are_in_the_bundle_beside_a_manifest(sunk: Synthesized) -> None:
    key = chart_values(sunk)["pluginBundle"]["key"]
    (bundle,) = sunk.folder.glob(f"asset.{key.split('.')[0]}*")
    with tarfile.open(bundle) as archive:
        found = sorted(name for name in archive.getnames() if name.startswith("plugins/s3-sink/"))
        manifest = archive.extractfile("plugins/s3-sink/lake-manifest.jar")
        assert manifest is not None
        with zipfile.ZipFile(io.BytesIO(manifest.read())) as jar:
            (name,) = jar.namelist()
            assert name == "META-INF/services/org.apache.kafka.connect.sink.SinkConnector"
            assert jar.read(name) == b"io.confluent.connect.s3.S3SinkConnector\n"
    assert found == [f"plugins/s3-sink/{name}.jar" for name in ("a", "b", "lake-manifest")]


def test_another_archive_than_the_named_one_is_refused(project: Path, tmp_path: Path) -> None:
    environment: AwsEnvironment = load_aws_environment(project, "dev")
    for name in ("build", "jars"):
        (tmp_path / name).symlink_to(ROOT / name)
    with pytest.raises(BadInput, match=r"no such archive of a connector; .*s3.zip; .* or remove connect.s3_sink"):
        check_build(tmp_path, environment)
    shutil.copy(project / "s3.zip", tmp_path)
    check_build(tmp_path, environment)
    (tmp_path / "s3.zip").write_bytes(b"other")
    with pytest.raises(BadInput, match=r"the archive has the SHA-256 .*or correct connect.s3_sink.sha256"):
        check_build(tmp_path, environment)
