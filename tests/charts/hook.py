"""The Job that applies the connectors, run as a kubelet would: its files, its program, its arguments."""

import subprocess
import sys
from pathlib import Path

from tests.charts.rendering import Manifest

Done = subprocess.CompletedProcess[str]
WITHIN_S = 120


def run(job: Manifest, config_maps: list[Manifest], url: str, folder: Path) -> Done:
    """The program of the ConfigMap with the arguments of the Job.

    A pod would bring a file system of its own and the name of a service: the paths that are mounted become paths
    below folder, and the service becomes url. Everything else is as it stands in the Job.
    """
    pod = job["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    mount(pod, {one["metadata"]["name"]: one for one in config_maps}, folder)
    paths = {mount["mountPath"]: f"{folder}{mount['mountPath']}" for mount in container["volumeMounts"]}
    local = {service(job): url, "python3": sys.executable}
    words = [local.get(word) or moved(word, paths) for word in (*container["command"], *container["args"])]
    return subprocess.run(words, env={}, capture_output=True, text=True, timeout=WITHIN_S)


def service(job: Manifest) -> str:
    """The address of Connect inside the cluster."""
    release = job["metadata"]["labels"]["app.kubernetes.io/instance"]
    return f"http://{release}:8083"


def mount(pod: Manifest, config_maps: dict[str, Manifest], folder: Path) -> None:
    """The files of all ConfigMaps that the pod mounts, and no others."""
    (container,) = pod["containers"]
    named = {volume["name"]: volume["configMap"]["name"] for volume in pod["volumes"]}
    for one in container["volumeMounts"]:
        target = folder / one["mountPath"].lstrip("/")
        target.mkdir(parents=True, exist_ok=True)
        for path in target.iterdir():
            path.unlink()
        for name, text in config_maps[named[one["name"]]].get("data", {}).items():
            (target / name).write_text(text)


def moved(word: str, paths: dict[str, str]) -> str:
    for mounted, there in paths.items():
        if word == mounted or word.startswith(f"{mounted}/"):
            return there + word.removeprefix(mounted)
    return word
