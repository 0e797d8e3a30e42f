"""The real helm, rendering; what it renders is checked against the schemas of Kubernetes."""

import io
import json
import os
import subprocess
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import kubernetes_validate
import yaml

from tests.emulated_account.errors import Refused

ROOT = Path(__file__).resolve().parents[2]
HELM = ROOT / "build/bin/helm"  # from the CDK's own kubectl layer, see tools/project.py
Manifest = dict[str, Any]


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
        where = ("--namespace", namespace, "--kube-version", f"{version}.0", "-f", "-")
        command = [str(HELM), "template", name, folder, *where]
        done = subprocess.run(command, env=_homes(folder), input=json.dumps(values), capture_output=True, text=True)
    if done.returncode:
        raise Refused(f"helm: {done.stderr.strip()}")
    manifests = [one for one in yaml.load_all(done.stdout, yaml.CSafeLoader) if one]
    for manifest in manifests:
        _check(manifest, version)
    return Release(name, namespace, values, manifests)


def _homes(folder: str) -> dict[str, str]:
    """Whatever helm is set up for on this machine must not matter."""
    return {**os.environ, **{f"HELM_{name}_HOME": f"{folder}/.helm" for name in ("CACHE", "CONFIG", "DATA")}}


def _check(manifest: Manifest, version: str) -> None:
    try:
        kubernetes_validate.validate(manifest, version, strict=True)
    except kubernetes_validate.ValidationError as error:
        raise Refused(f"{manifest['kind']} {manifest['metadata']['name']}: {error.message}") from error
