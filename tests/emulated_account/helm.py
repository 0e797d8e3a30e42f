"""The real helm, rendering; what it renders is checked against the schemas of Kubernetes."""

import io
import tempfile
import zipfile
from dataclasses import dataclass
from typing import Any

import kubernetes_validate

from tests.charts.rendering import Manifest, helm, parsed
from tests.emulated_account.errors import Refused


@dataclass(frozen=True)
class Release:
    """A chart as it was installed."""

    name: str
    namespace: str
    values: dict[str, Any]
    manifests: list[Manifest]

    def only(self, kind: str, name: str) -> Manifest:
        found = [one for one in self.manifests if (one["kind"], one["metadata"]["name"]) == (kind, name)]
        if len(found) != 1:
            raise Refused(f"{len(found)} objects of kind {kind} named {name}")
        return found[0]


def install(chart: bytes, name: str, namespace: str, values: dict[str, Any], version: str) -> Release:
    """Refused with helm's own words, or with those of the schemas."""
    with tempfile.TemporaryDirectory() as folder:
        zipfile.ZipFile(io.BytesIO(chart)).extractall(folder)
        where = ("--namespace", namespace, "--kube-version", f"{version}.0")
        done = helm("template", name, folder, *where, values=values)
    if done.returncode:
        raise Refused(f"helm: {done.stderr.strip()}")
    manifests = parsed(done)
    for manifest in manifests:
        _check(manifest, version)
    return Release(name, namespace, values, manifests)


def _check(manifest: Manifest, version: str) -> None:
    try:
        kubernetes_validate.validate(manifest, version, strict=True)
    except kubernetes_validate.ValidationError as error:
        raise Refused(f"{manifest['kind']} {manifest['metadata']['name']}: {error.message}") from error
