"""RBAC: what a deployer may, and that the pods may nothing."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.charts.rendering import chart_of, of_kind, rendered, scenarios, title
from tests.kube_api.conftest import KINDS
from tests.kube_api.kube import Kube
from tests.kube_api.release import Release

each_chart = pytest.mark.parametrize("scenario", [scenarios(c)[0] for c in ("kafka*", "apicurio*")], ids=title)

# Who somebody is, and what he may: Kubernetes' own roles for all who are logged in.
EVERYBODY = {
    ("authentication.k8s.io", "selfsubjectreviews"),
    ("authorization.k8s.io", "selfsubjectaccessreviews"),
    ("authorization.k8s.io", "selfsubjectrulesreviews"),
}


@each_chart
def test_a_stranger_can_install_nothing(scenario: Path, kube: Kube, release: Callable[..., Release]) -> None:
    done = release("release", "stranger").install(chart_of(scenario), scenario)
    assert done.returncode != 0
    assert "forbidden" in done.stderr
    assert kube.all("apps/v1", "Deployment") == []


def test_a_deployer_may_nothing_outside_the_namespace(kube: Kube) -> None:
    assert kube.may("deployer", "create", "deployments", "apps")
    elsewhere = Kube(kube.client, "default")
    assert not elsewhere.may("deployer", "create", "deployments", "apps")
    assert not kube.may("deployer", "create", "rolebindings", "rbac.authorization.k8s.io")


def test_a_deployer_has_no_right_that_is_not_named(kube: Kube) -> None:
    assert kube.rights("deployer") - EVERYBODY == {(group, kind) for group, kinds in KINDS.items() for kind in kinds}


@pytest.mark.parametrize("scenario", scenarios(), ids=title)
def test_the_accounts_of_the_pods_have_no_right(scenario: Path, kube: Kube) -> None:
    accounts = [one["metadata"]["name"] for one in of_kind(rendered(scenario), "ServiceAccount")]
    for name in (*accounts, "default"):
        assert kube.rights(f"system:serviceaccount:{kube.namespace}:{name}") == EVERYBODY
