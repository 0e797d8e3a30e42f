"""Pods run as a kubelet would: their files, their programs, their arguments."""

import json
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from tests.charts.rendering import Manifest, containers

Done = subprocess.CompletedProcess[str]
WITHIN_S = 600
NOTHING: Mapping[str, str] = MappingProxyType({})


def run(job: Manifest, config_maps: list[Manifest], url: str, folder: Path, login: tuple[str, str]) -> Done:
    """The container of a Job that asks Connect; the secret is there as the AWS CLI would leave it."""
    pod = job["spec"]["template"]
    pod["spec"]["initContainers"] = []
    leave_login(folder, login)
    (done,) = run_pod(pod, config_maps, url, folder)
    return done


def leave_login(folder: Path, login: tuple[str, str]) -> None:
    """The secret of Connect's operators, where the pods look for it."""
    path = folder / "run/login/secret.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(dict(zip(("username", "password"), login, strict=True))))


def run_pod(
    pod: Manifest, config_maps: list[Manifest], url: str, folder: Path, variables: Mapping[str, str] = NOTHING
) -> list[Done]:
    """All containers, one after the other, until one fails.

    A pod would bring a file system of its own, and the name of a service: the paths that are mounted become paths
    below folder, and Connect's address becomes url. variables is what the machine of the pod has; everything else is
    as it stands in the manifest.
    """
    release = pod["metadata"]["labels"]["app.kubernetes.io/instance"]
    maps = {one["metadata"]["name"]: one for one in config_maps}
    ended: list[Done] = []
    for container in containers(pod):
        mount(container, pod["spec"]["volumes"], maps, folder)
        paths = re.compile("|".join(re.escape(one["mountPath"]) for one in container["volumeMounts"]))
        local = {f"http://{release}:8083": url, "python3": sys.executable}
        wanted = [*container["command"], *container.get("args", [])]
        words = [local.get(word) or paths.sub(lambda found: f"{folder}{found[0]}", word) for word in wanted]
        own = {one["name"]: str(one.get("value", "")) for one in container.get("env", [])}
        environment = {**own, **variables}
        ended.append(subprocess.run(words, env=environment, capture_output=True, text=True, timeout=WITHIN_S))
        if ended[-1].returncode:
            break
    return ended


def mount(container: Manifest, volumes: list[Manifest], config_maps: dict[str, Manifest], folder: Path) -> None:
    """The files of the ConfigMaps that the container mounts, and no others; what is empty stays as it is."""
    named = {volume["name"]: volume.get("configMap", {}).get("name") for volume in volumes}
    for one in container["volumeMounts"]:
        target = folder / one["mountPath"].lstrip("/")
        target.mkdir(parents=True, exist_ok=True)
        if named[one["name"]] is None:
            continue
        for path in target.glob("*.*"):
            path.unlink()
        for name, text in config_maps[named[one["name"]]].get("data", {}).items():
            (target / name).write_text(text)
