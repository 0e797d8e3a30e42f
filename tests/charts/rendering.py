"""The charts rendered by the helm that CDK runs, and ways to look at what came out."""

import copy
import functools
import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from lake.config.versions import KUBERNETES

ROOT = Path(__file__).resolve().parents[2]
HELM = ROOT / "build" / "bin" / "helm"
Manifest = dict[str, Any]
Values = dict[str, Any]


def scenarios(chart: str = "*") -> list[Path]:
    """The values files of all that we claim to support: helm/<chart>/ci/<scenario>-values.yaml."""
    return sorted((ROOT / "helm").glob(f"{chart}/ci/*-values.yaml"))


def title(scenario: Path) -> str:
    return f"{chart_of(scenario).name}-{scenario.name.removesuffix('-values.yaml')}"


def chart_of(scenario: Path) -> Path:
    return scenario.parents[1]


def helm(
    *arguments: str | Path, values: Values | None = None, variables: Mapping[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    """Runs helm; values go in through standard input."""
    command = [str(HELM), *map(str, arguments), *(() if values is None else ("-f", "-"))]
    # JSON: a text that one reader of YAML takes for a number stays a text.
    text = None if values is None else json.dumps(values)
    # Whatever helm is set up for on this machine must not matter.
    homes = {f"HELM_{name}_HOME": str(ROOT / "build" / "helm") for name in ("CACHE", "CONFIG", "DATA")}
    environment = {**os.environ, **homes, **(variables or {})}
    return subprocess.run(command, env=environment, input=text, capture_output=True, text=True, timeout=300)


def template(scenario: Path, values: Values | None = None) -> "subprocess.CompletedProcess[str]":
    where = ("--namespace", "lake", "--kube-version", f"{KUBERNETES}.0", "-f", scenario)
    return helm("template", "release", chart_of(scenario), *where, values=values)


@functools.cache
def _rendered(scenario: Path) -> list[Manifest]:
    return parsed(template(scenario))


def rendered(scenario: Path, values: Values | None = None) -> list[Manifest]:
    """All manifests of a scenario, with some values changed."""
    return copy.deepcopy(_rendered(scenario)) if values is None else parsed(template(scenario, values))


def parsed(result: "subprocess.CompletedProcess[str]") -> list[Manifest]:
    assert result.returncode == 0, result.stderr
    return [manifest for manifest in yaml.load_all(result.stdout, yaml.CSafeLoader) if manifest]


def of_kind(manifests: list[Manifest], kind: str, name: str = "") -> list[Manifest]:
    return [one for one in manifests if one["kind"] == kind and one["metadata"]["name"].endswith(name)]


def only(manifests: list[Manifest], kind: str, name: str = "") -> Manifest:
    (found,) = of_kind(manifests, kind, name)
    return found


def pods(manifests: list[Manifest]) -> list[Manifest]:
    """The pod templates."""
    specs = [one.get("spec", {}) for one in manifests]
    jobs = [spec["jobTemplate"]["spec"] if "jobTemplate" in spec else spec for spec in specs]
    return [job["template"] for job in jobs if "template" in job]


def containers(pod: Manifest) -> list[Manifest]:
    return [*pod["spec"].get("initContainers", []), *pod["spec"]["containers"]]


def selects(selector: dict[str, str], pod: Manifest) -> bool:
    return bool(selector.items() <= pod["metadata"]["labels"].items())
