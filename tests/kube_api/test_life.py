"""Each scenario through the life of a release, by somebody who has rights in one namespace only."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.charts.rendering import Manifest, chart_of, only, rendered, scenarios, title
from tests.kube_api.conftest import KINDS
from tests.kube_api.kube import Kube
from tests.kube_api.release import Done, Release

each_scenario = pytest.mark.parametrize("scenario", scenarios(), ids=title)
Make = Callable[..., Release]
# What an upgrade changes, of which kind of object, and how its name ends: source-database runs by the clock, the others
# all the time.
CHANGES = {"source-database": ("CronJob", "release", {"schedule": "*/7 * * * *"})}
MORE = ("Deployment", "", {"replicas": 5})


LINKED = "found symbolic link in path"  # Helm says so of reconcile.py, which laptop and chart share


def succeeded(done: Done) -> None:
    """Without a warning of the server's: of pods that it would refuse, of fields that are going away."""
    assert (done.returncode, [line for line in done.stderr.splitlines() if LINKED not in line]) == (0, [])


def made(scenario: Path) -> list[Manifest]:
    """All but hooks, which have their own tests."""
    return [one for one in rendered(scenario) if "helm.sh/hook" not in one["metadata"].get("annotations", {})]


def dropped(wanted: object, kept: object, path: str = "") -> list[str]:
    """What was rendered and is not kept so; what the server adds is its affair."""
    if isinstance(wanted, dict) and isinstance(kept, dict):
        return [found for key in wanted for found in dropped(wanted[key], kept.get(key), f"{path}/{key}")]
    if isinstance(wanted, list) and isinstance(kept, list) and len(wanted) == len(kept):
        pairs = enumerate(zip(wanted, kept, strict=True))
        return [found for number, (one, other) in pairs for found in dropped(one, other, f"{path}/{number}")]
    # An empty text is not kept, and is read as what it was.
    return [] if wanted == kept or (wanted, kept) == ("", None) else [f"{path}: {wanted!r} became {kept!r}"]


def generations(kube: Kube) -> dict[str, str]:
    """The version of every object of the release."""
    objects = [one for group, kinds in API.items() for kind in kinds for one in kube.all(group, kind)]
    return {f"{one['kind']} {one['metadata']['name']}": one["metadata"]["resourceVersion"] for one in objects}


API = {
    "v1": ["ConfigMap", "Service"],
    "apps/v1": ["Deployment"],
    "batch/v1": ["CronJob", "Job"],
    "networking.k8s.io/v1": ["NetworkPolicy"],
    "policy/v1": ["PodDisruptionBudget"],
}


def test_all_that_a_deployer_has_rights_to_is_looked_at() -> None:
    assert {api.rpartition("/")[0] for api in API} == set(KINDS)


@each_scenario
def test_what_is_installed_is_what_was_rendered(scenario: Path, kube: Kube, release: Make) -> None:
    succeeded(release("release").install(chart_of(scenario), scenario))
    for manifest in made(scenario):
        # The owner of connectors is the release, with the namespace that it is rendered for.
        text = json.dumps(manifest).replace('"lake/release"', f'"{kube.namespace}/release"')
        assert dropped(json.loads(text), kube.find(manifest)) == []


@each_scenario
def test_an_upgrade_to_the_same_changes_nothing(scenario: Path, kube: Kube, release: Make) -> None:
    succeeded(release("release").install(chart_of(scenario), scenario))
    before = generations(kube)
    succeeded(release("release").upgrade(chart_of(scenario), scenario))
    assert generations(kube) == before != {}


@each_scenario
def test_an_upgrade_is_undone_by_a_rollback(scenario: Path, kube: Kube, release: Make) -> None:
    kind, name, more = CHANGES.get(chart_of(scenario).name, MORE)
    deployed, changed = (only(rendered(scenario, values), kind, name) for values in (None, more))
    succeeded(release("release").install(chart_of(scenario), scenario))
    succeeded(release("release").upgrade(chart_of(scenario), scenario, more))
    assert dropped(changed, kube.find(deployed)) == []
    assert dropped(deployed, kube.find(deployed)) != []
    succeeded(release("release").rollback(1))
    assert dropped(deployed, kube.find(deployed)) == []
    assert release("release").history() == ["superseded", "superseded", "deployed"]


@each_scenario
def test_an_uninstalled_release_leaves_nothing(scenario: Path, kube: Kube, release: Make) -> None:
    before = kube.all("v1", "ServiceAccount"), kube.all("v1", "Secret")
    succeeded(release("release").install(chart_of(scenario), scenario))
    succeeded(release("release").uninstall())
    assert generations(kube) == {}
    assert (kube.all("v1", "ServiceAccount"), kube.all("v1", "Secret")) == before


def test_the_charts_live_in_one_namespace(kube: Kube, release: Make) -> None:
    """As the stack installs them: each release is named as its chart."""
    for chart in ("source-database", "apicurio-registry", "kafka-connect"):
        scenario = scenarios(chart)[0]
        succeeded(release(chart).install(chart_of(scenario), scenario))
    deployments = {one["metadata"]["name"] for one in kube.all("apps/v1", "Deployment")}
    succeeded(release("kafka-connect").uninstall())
    left = {one["metadata"]["name"] for one in kube.all("apps/v1", "Deployment")}
    assert (deployments, left) == ({"apicurio-registry", "kafka-connect"}, {"apicurio-registry"})
