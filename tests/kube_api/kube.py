"""Kubernetes' REST interface as a test sees it: objects are the manifests that charts render."""

from functools import cached_property
from typing import Any

import httpx

from tests.charts.rendering import Manifest

# What kubectl and helm ask for: a field that the server does not know is an error, not dropped in silence.
STRICT = {"fieldValidation": "Strict"}
DRY = {"dryRun": "All"}


class Kube:
    """One user's view of one namespace."""

    def __init__(self, client: httpx.Client, namespace: str) -> None:
        self.client = client
        self.namespace = namespace

    def create(self, manifest: Manifest, *, dry: bool = False) -> httpx.Response:
        """The server's answer: all of validation and admission; dry keeps nothing of it."""
        return self.client.post(self._path(manifest), json=manifest, params=STRICT | (DRY if dry else {}))

    def find(self, manifest: Manifest) -> Manifest | None:
        """What the server keeps under this kind and name."""
        answer = self.client.get(f"{self._path(manifest)}/{manifest['metadata']['name']}")
        return None if answer.status_code == httpx.codes.NOT_FOUND else mapping(answer)

    def set_status(self, manifest: Manifest, status: dict[str, Any]) -> None:
        path = f"{self._path(manifest)}/{manifest['metadata']['name']}/status"
        patch = {"Content-Type": "application/merge-patch+json"}
        mapping(self.client.patch(path, json={"status": status}, headers=patch))

    def all(self, api: str, kind: str) -> list[Manifest]:
        found = mapping(self.client.get(self._path({"apiVersion": api, "kind": kind})))["items"]
        return [{"apiVersion": api, "kind": kind, **one} for one in found]

    def may(self, user: str, verb: str, resource: str, group: str = "") -> bool:
        """Whether RBAC lets somebody do it here; asked by one who may impersonate."""
        what = {"namespace": self.namespace, "verb": verb, "resource": resource, "group": group}
        review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview"}
        path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
        body = {**review, "spec": {"resourceAttributes": what}}
        return bool(mapping(self.client.post(path, json=body, headers={"Impersonate-User": user}))["status"]["allowed"])

    def rights(self, user: str) -> set[tuple[str, str]]:
        """Group and resource of all that RBAC lets somebody do anything with here."""
        review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectRulesReview"}
        path = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"
        body = {**review, "spec": {"namespace": self.namespace}}
        found = mapping(self.client.post(path, json=body, headers={"Impersonate-User": user}))["status"]
        assert not found["incomplete"]
        rules = found["resourceRules"]
        return {(group, name) for rule in rules for group in rule["apiGroups"] for name in rule["resources"]}

    def _path(self, manifest: Manifest) -> str:
        api = manifest["apiVersion"]
        root = f"/apis/{api}" if "/" in api else f"/api/{api}"
        return f"{root}/namespaces/{self.namespace}/{self._plurals(root)[manifest['kind']]}"

    def _plurals(self, root: str) -> dict[str, str]:
        """Kind -> name in addresses, as the server lists them."""
        if root not in self._known:
            listed = mapping(self.client.get(root))["resources"]
            self._known[root] = {one["kind"]: one["name"] for one in listed if "/" not in one["name"]}
        return self._known[root]

    @cached_property
    def _known(self) -> dict[str, dict[str, str]]:
        return {}


def mapping(answer: httpx.Response) -> dict[str, Any]:
    assert answer.is_success, answer.text
    found: dict[str, Any] = answer.json()
    return found
