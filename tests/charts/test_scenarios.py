"""Each scenario that we claim to support is accepted by helm and by the schemas of Kubernetes."""

from pathlib import Path

import kubernetes_validate
import pytest
import yaml

from lake.config.versions import KUBERNETES, POSTGRESQL, from_pom
from tests.charts.rendering import ROOT, Manifest, chart_of, helm, rendered, scenarios, title

each_scenario = pytest.mark.parametrize("scenario", scenarios(), ids=title)


def test_the_scenarios_are_those_we_claim() -> None:
    assert [title(scenario) for scenario in scenarios()] == [
        "apicurio-registry-demo",
        "apicurio-registry-prod",
        "kafka-connect-demo",
        "kafka-connect-msk-serverless",
        "kafka-connect-prod",
        "kafka-connect-scram",
        "source-database-demo",
        "source-database-prod",
    ]


@each_scenario
def test_lint_finds_nothing(scenario: Path) -> None:
    result = helm("lint", "--strict", chart_of(scenario), "-f", scenario)
    assert result.returncode == 0, result.stdout + result.stderr


@each_scenario
def test_kubernetes_knows_every_field(scenario: Path) -> None:
    for manifest in rendered(scenario):
        kubernetes_validate.validate(manifest, KUBERNETES, strict=True)


@pytest.mark.parametrize(
    "wrong", [{"spec": {"template": {"spec": {"serviceAcountName": "x"}}}}, {"spec": {"replicas": "3"}}]
)
def test_the_validator_would_find_a_mistake(wrong: Manifest) -> None:
    deployment = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "x"}, **wrong}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(deployment, KUBERNETES, strict=True)


@each_scenario
def test_one_kind_per_file(scenario: Path) -> None:
    for path in (chart_of(scenario) / "templates").glob("*.yaml"):
        kinds = [line for line in path.read_text().splitlines() if line.startswith("kind: ")]
        assert len(kinds) == 1, path
        assert path.name.split("-")[0].removesuffix(".yaml") == kinds[0].removeprefix("kind: ").lower()


@pytest.mark.parametrize(("chart", "name"), [("kafka-connect", "kafka"), ("apicurio-registry", "apicurio")])
def test_the_default_image_is_the_version_that_runs_locally(chart: str, name: str) -> None:
    assert app_version(chart) == from_pom(ROOT, name)


def test_the_default_psql_is_of_the_version_of_rds() -> None:
    assert app_version("source-database") == POSTGRESQL


def app_version(chart: str) -> str:
    return str(yaml.safe_load((ROOT / "helm" / chart / "Chart.yaml").read_text())["appVersion"])


@each_scenario
def test_the_same_values_give_the_same_manifests(scenario: Path) -> None:
    assert rendered(scenario, {}) == rendered(scenario)
