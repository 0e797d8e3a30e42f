"""Versions stand once: what is written twice for a tool's sake must agree."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from lake.config import versions
from lake.config.errors import BadInput

PROJECT = Path(__file__).parents[2]
POM = "{http://maven.apache.org/POM/4.0.0}"


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
    row = r"^\| (emr-[0-9.]+) \| ([0-9.]+) \| ([0-9.]+) \| (yes|no) \| (yes|no) \|$"
    assert re.findall(row, page, re.MULTILINE) == [
        (name, one.spark, one.hudi, yes(not versions.no_streamer(name)), yes(one.local))
        for name, one in versions.EMR_RELEASES.items()
    ]


def yes(fact: bool) -> str:
    return "yes" if fact else "no"


@pytest.mark.parametrize("release", versions.LOCAL_RELEASES)
def test_maven_fetches_the_spark_and_the_hudi_of_a_release_that_runs_here(release: str) -> None:
    fetched = properties(release)
    wanted = versions.EMR_RELEASES[release]
    assert (fetched["spark.version"], fetched["hudi.version"]) == (wanted.spark, wanted.hudi)
    assert fetched["hudi.spark.version"] == wanted.spark.rpartition(".")[0]
    assert fetched["spark.kafka.version"] == wanted.kafka_connector


@pytest.mark.parametrize("release", versions.LOCAL_RELEASES)
def test_the_page_lists_what_a_release_runs_on_here(release: str) -> None:
    of = properties(release)
    bundle = f"hudi-spark{of['hudi.spark.version']}-bundle_{of['scala.version']}"
    cells = [
        release,
        f"{of['spark.version']}, Scala {of['spark.scala.version']}",
        f"{bundle} {of['hudi.version']}",
        f"{of['spark.kafka.version']}, client {of['spark.kafka.client.version']}",
        f"{of['hadoop.version']}, SDK {of['aws.sdk.version']}",
    ]
    assert f"| {' | '.join(cells)} |" in (PROJECT / "docs/deploy.md").read_text().splitlines()


def test_make_slow_tests_the_other_release() -> None:
    tested = re.findall(r"^OTHER_RELEASE := (\S+)$", (PROJECT / "Makefile").read_text(), re.MULTILINE)
    assert {versions.EMR, *tested} == set(versions.LOCAL_RELEASES)


@pytest.mark.parametrize("release", [name for name in versions.LOCAL_RELEASES if name != versions.EMR])
def test_pyspark_of_another_release_is_the_spark_of_its_profile(release: str) -> None:
    pins = (PROJECT / f"requirements/{release}.txt").read_text()
    assert re.findall(r"^pyspark==(\S+)", pins, re.MULTILINE) == [properties(release)["spark.version"]]
    assert "--hash=sha256:" in pins


def test_no_release_has_the_jars_of_another_hudi() -> None:
    for release in versions.LOCAL_RELEASES:
        suffix = "" if release == versions.EMR else f".{release}"
        listed = (PROJECT / f"jars/SHA256SUMS{suffix}").read_text()
        bundles = set(re.findall(r"hudi-spark(\S+)-bundle_\S+?-(\S+)\.jar", listed))
        assert bundles == {(properties(release)["hudi.spark.version"], properties(release)["hudi.version"])}


def properties(release: str) -> dict[str, str]:
    """What pom.xml says, with the profile of a release that is not the default."""
    tree = ElementTree.parse(PROJECT / "pom.xml").getroot()
    profiles = {one.findtext(f"{POM}id"): one for one in tree.iter(f"{POM}profile")}
    parts = [tree, *([] if release == versions.EMR else [profiles[release]])]
    found = {one.tag.removeprefix(POM): one.text or "" for part in parts for one in part.find(f"{POM}properties") or ()}
    return {name: re.sub(r"\$\{(.+?)\}", lambda of: found.get(of[1], ""), text) for name, text in found.items()}


@pytest.mark.parametrize(
    ("name", "why"), [("emr-7.9.0", "does not run on this machine"), ("emr-9.9.9", "is not known here")]
)
def test_a_release_that_does_not_run_here_is_refused_with_those_that_do(name: str, why: str) -> None:
    with pytest.raises(ValueError, match=f"'{name}' {why} .* choose one of emr-6.15.0, emr-7.10.0$"):
        versions.local_release(name)


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
