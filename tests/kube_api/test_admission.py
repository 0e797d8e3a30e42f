"""The real admission judges each pod that the charts make, and refuses what it must: the negative controls."""

import copy
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lake.config.versions import KUBERNETES
from tests.charts.rendering import Manifest, Values, chart_of, of_kind, only, rendered, scenarios, title
from tests.kube_api.kube import Kube, mapping
from tests.kube_api.release import Release

each_scenario = pytest.mark.parametrize("scenario", scenarios(), ids=title)
each_chart = pytest.mark.parametrize("scenario", [scenarios(c)[0] for c in ("kafka*", "apicurio*")], ids=title)
Make = Callable[..., Release]
Change = Callable[[Manifest], Any]
VIOLATION = f'violates PodSecurity "restricted:v{KUBERNETES}"'


def pods(scenario: Path) -> list[Manifest]:
    """Every pod template as the pod that a controller would make of it: there are no controllers here."""
    owners = [job_of(one) if one["kind"] == "CronJob" else one for one in rendered(scenario)]
    return [pod_of(owner) for owner in owners if "template" in owner.get("spec", {})]


def job_of(scheduled: Manifest) -> Manifest:
    return {"metadata": scheduled["metadata"], **scheduled["spec"]["jobTemplate"]}


def pod_of(owner: Manifest) -> Manifest:
    template = copy.deepcopy(owner["spec"]["template"])
    metadata = {**template["metadata"], "name": owner["metadata"]["name"]}
    return {"apiVersion": "v1", "kind": "Pod", **template, "metadata": metadata}


def add_accounts(kube: Kube, scenario: Path) -> None:
    for account in of_kind(rendered(scenario), "ServiceAccount"):
        mapping(kube.create(account))


@each_scenario
def test_every_pod_is_admitted(scenario: Path, kube: Kube) -> None:
    add_accounts(kube, scenario)
    for pod in pods(scenario):
        answer = kube.create(pod, dry=True)
        assert "Warning" not in answer.headers
        assert mapping(answer)["spec"]["securityContext"] == pod["spec"]["securityContext"]


@each_scenario
def test_no_pod_is_given_a_token_of_kubernetes(scenario: Path, kube: Kube) -> None:
    """Admission mounts one into every pod that does not refuse it."""
    add_accounts(kube, scenario)
    for pod in pods(scenario):
        volumes = {one["name"] for one in mapping(kube.create(pod, dry=True))["spec"]["volumes"]}
        assert volumes == {one["name"] for one in pod["spec"]["volumes"]}
        pod["spec"]["automountServiceAccountToken"] = True
        more = {one["name"] for one in mapping(kube.create(pod, dry=True))["spec"]["volumes"]} - volumes
        assert [name.startswith("kube-api-access-") for name in more] == [True]


@each_scenario
def test_the_hook_is_accepted(scenario: Path, kube: Kube) -> None:
    for job in of_kind(rendered(scenario), "Job"):
        answer = kube.create(job, dry=True)
        assert "Warning" not in answer.headers
        assert mapping(answer)["spec"]["backoffLimit"] == job["spec"]["backoffLimit"]


def test_a_pod_needs_its_account(kube: Kube) -> None:
    pod = pods(scenarios("kafka-connect")[0])[0]
    answer = kube.create(pod, dry=True)
    assert answer.status_code == 403
    assert 'serviceaccount "kafka-connect" not found' in answer.json()["message"]


WORSE: dict[str, Change] = {
    "privileged": lambda pod: first(pod).update(securityContext={"privileged": True}),
    "may escalate": lambda pod: first(pod)["securityContext"].update(allowPrivilegeEscalation=True),
    "keeps capabilities": lambda pod: first(pod)["securityContext"].pop("capabilities"),
    "root": lambda pod: pod["spec"]["securityContext"].update(runAsUser=0),
    "perhaps root": lambda pod: pod["spec"]["securityContext"].pop("runAsNonRoot"),
    "any system call": lambda pod: pod["spec"]["securityContext"].pop("seccompProfile"),
    "the node's network": lambda pod: pod["spec"].update(hostNetwork=True),
    "the node's files": lambda pod: pod["spec"]["volumes"].append({"name": "node", "hostPath": {"path": "/"}}),
}


def first(pod: Manifest) -> Manifest:
    container: Manifest = pod["spec"]["containers"][0]
    return container


@each_chart
@pytest.mark.parametrize("change", WORSE.values(), ids=WORSE)
def test_a_pod_that_asks_for_more_is_refused(scenario: Path, change: Change, kube: Kube) -> None:
    add_accounts(kube, scenario)
    pod = pod_of(only(rendered(scenario), "Deployment"))
    change(pod)
    answer = kube.create(pod, dry=True)
    assert answer.status_code == 403
    assert VIOLATION in answer.json()["message"]


@each_chart
def test_a_deployment_of_such_pods_is_warned_of(scenario: Path, kube: Kube) -> None:
    """Which is why a warning fails the tests of the releases."""
    deployment = only(rendered(scenario), "Deployment")
    WORSE["privileged"](deployment["spec"]["template"])
    assert "would violate PodSecurity" in kube.create(deployment, dry=True).headers["Warning"]


def broken(scenario: Path, folder: Path, right: str, wrong: str) -> Path:
    """The chart with a mistake in the template of its Deployment."""
    chart = folder / "chart"
    shutil.copytree(chart_of(scenario), chart)
    path = chart / "templates" / "deployment.yaml"
    assert right in path.read_text()
    path.write_text(path.read_text().replace(right, wrong))
    return chart


@each_chart
@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ("serviceAccountName:", "serviceAcountName:", "serviceAcountName"),
        ("replicas: {{ .Values.replicas }}", 'replicas: "three"', "replicas"),
        ("      volumes:\n", "      volumes:\n        - {name: tmp, emptyDir: {}}\n", "duplicate entries"),
        ("readOnly: true}\n", "readOnly: true, subPath: ../..}\n", "must not contain '..'"),
    ],
)
def test_a_mistake_in_a_template_is_refused(
    scenario: Path, right: str, wrong: str, said: str, kube: Kube, release: Make, tmp_path: Path
) -> None:
    done = release("release").install(broken(scenario, tmp_path, right, wrong), scenario)
    assert done.returncode != 0
    assert said in done.stderr
    assert kube.all("apps/v1", "Deployment") == []


# Right by the schema of the chart, which compares no values with each other.
REFUSED: list[tuple[str, Values, str]] = [
    ("kafka-connect", {"resources": {"requests": {"memory": "2Gi"}, "limits": {"memory": "1Gi"}}}, "memory limit"),
    ("apicurio-registry", {"resources": {"requests": {"memory": "2Gi"}, "limits": {"memory": "1Gi"}}}, "memory limit"),
]


@pytest.mark.parametrize(("chart", "values", "said"), REFUSED)
def test_values_that_only_the_server_can_judge_are_refused(
    chart: str, values: Values, said: str, kube: Kube, release: Make
) -> None:
    scenario = scenarios(chart)[0]
    done = release("release").install(chart_of(scenario), scenario, values)
    assert done.returncode != 0
    assert said in done.stderr
    assert release("release").history() == ["failed"]
