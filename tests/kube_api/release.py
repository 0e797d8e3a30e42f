"""helm's verbs about one release, on a real server."""

import json
import subprocess
from pathlib import Path

from tests.charts.rendering import Values, helm

Done = subprocess.CompletedProcess[str]
# No kubelet runs hooks here: test_hooks.py stands in for it.
NO_HOOKS = "--no-hooks"


class Release:
    def __init__(self, name: str, namespace: str, kubeconfig: Path, discovery: Path) -> None:
        self.name = name
        self.namespace = namespace
        self._variables = {"KUBECONFIG": str(kubeconfig), "KUBECACHEDIR": str(discovery)}

    def install(self, chart: Path, scenario: Path, values: Values | None = None) -> Done:
        return self._helm("install", chart, NO_HOOKS, "-f", scenario, values=values)

    def upgrade(self, chart: Path, scenario: Path, values: Values | None = None) -> Done:
        return self._helm("upgrade", chart, NO_HOOKS, "-f", scenario, values=values)

    def deploy(self, chart: Path, scenario: Path, values: Values | None = None) -> Done:
        """With the flags of CDK's handler for a HelmChart that is atomic; it waits for pods and hooks."""
        course = ("--install", "--create-namespace", "--timeout", "480s", "--atomic")
        return self._helm("upgrade", chart, *course, "-f", scenario, values=values)

    def rollback(self, revision: int, *, hooks: bool = False) -> Done:
        return self._helm("rollback", str(revision), *([] if hooks else [NO_HOOKS]))

    def uninstall(self) -> Done:
        return self._helm("uninstall", NO_HOOKS)

    def history(self) -> list[str]:
        """The state of each revision, oldest first."""
        done = self._helm("history", "-o", "json")
        return [one["status"] for one in json.loads(done.stdout)]

    def _helm(self, verb: str, *arguments: str | Path, values: Values | None = None) -> Done:
        where = ("--namespace", self.namespace)
        return helm(verb, self.name, *arguments, *where, values=values, variables=self._variables)
