"""One API server for the whole run; each test has a namespace of its own in it."""

import itertools
import socket
from collections.abc import Callable, Iterator

import pytest
from tenacity import retry, stop_after_delay, wait_fixed

from lake.config.versions import KUBERNETES
from tests.charts.fake_connect import connect as connect
from tests.charts.rendering import Manifest
from tests.kube_api.api_server import ApiServer, missing
from tests.kube_api.kube import Kube, mapping
from tests.kube_api.release import Release

# Violations of a pod are refused; of what makes pods, which admission lets through, they are warned of.
RESTRICTED = {
    "pod-security.kubernetes.io/enforce": "restricted",
    "pod-security.kubernetes.io/warn": "restricted",
    "pod-security.kubernetes.io/enforce-version": f"v{KUBERNETES}",
}
# What a deployer needs in the one namespace, and no right anywhere else. Secrets: helm's own record of releases.
KINDS = {
    "": ["configmaps", "secrets", "serviceaccounts", "services"],
    "apps": ["deployments"],
    "batch": ["cronjobs", "jobs"],
    "networking.k8s.io": ["networkpolicies"],
    "policy": ["poddisruptionbudgets"],
}
VERBS = ["get", "list", "watch", "create", "update", "patch", "delete"]
RBAC = "rbac.authorization.k8s.io"


@pytest.fixture(scope="session")
def api_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    if missing():
        pytest.skip(f"no {' and no '.join(missing())}: run `make kubeapi` (Go comes with `make setup`)")
    server = ApiServer(tmp_path_factory.mktemp("kube"), free_ports())
    try:
        server.start()
        yield server
    finally:
        server.stop()


def free_ports() -> tuple[int, int, int]:
    """Held all at once, so that they differ."""
    with socket.socket() as one, socket.socket() as two, socket.socket() as three:
        for held in (one, two, three):
            held.bind(("127.0.0.1", 0))
        return one.getsockname()[1], two.getsockname()[1], three.getsockname()[1]


numbers = itertools.count()


@pytest.fixture
def kube(api_server: ApiServer) -> Kube:
    """All rights in a fresh namespace that takes only pods that give up everything."""
    kube = Kube(api_server.client("admin"), f"lake-{next(numbers)}")
    labelled = {"name": kube.namespace, "labels": RESTRICTED}
    mapping(kube.client.post("/api/v1/namespaces", json={"kind": "Namespace", "metadata": labelled}))
    for manifest in beginning():
        mapping(kube.create(manifest))
    await_rights(kube)
    return kube


@retry(stop=stop_after_delay(10), wait=wait_fixed(0.05), reraise=True)
def await_rights(kube: Kube) -> None:
    """The server learns of roles and bindings a moment after it has stored them."""
    assert kube.may("deployer", "create", "deployments", "apps")


def beginning() -> list[Manifest]:
    """What a controller makes in each namespace, and the rights of its deployer."""
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}}
    named = {"apiVersion": f"{RBAC}/v1", "metadata": {"name": "deployer"}}
    rules = [{"apiGroups": [group], "resources": kinds, "verbs": VERBS} for group, kinds in KINDS.items()]
    bound = {
        "roleRef": {"apiGroup": RBAC, "kind": "Role", "name": "deployer"},
        "subjects": [{"apiGroup": RBAC, "kind": "User", "name": "deployer"}],
    }
    return [account, {**named, "kind": "Role", "rules": rules}, {**named, "kind": "RoleBinding", **bound}]


@pytest.fixture
def release(api_server: ApiServer, kube: Kube) -> Callable[..., Release]:
    """release("kafka-connect"): helm's verbs, by somebody who has rights in this namespace only."""

    def make(name: str, user: str = "deployer") -> Release:
        return Release(name, kube.namespace, api_server.kubeconfig(user), api_server.folder / "discovery")

    return make
