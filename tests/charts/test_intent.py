"""What must hold of whatever the charts render, in every scenario: the rule is the name of the test."""

import re
from pathlib import Path
from typing import Any

import pytest

from lake.aws.rendering import source_sql
from lake.config.definition import load_databases
from lake.config.environment import load_environment
from lake.local.registry import Registry
from tests.charts.rendering import (
    ROOT,
    Manifest,
    chart_of,
    containers,
    of_kind,
    only,
    pods,
    rendered,
    scenarios,
    selects,
    title,
)

each_scenario = pytest.mark.parametrize("scenario", scenarios(), ids=title)
# The charts whose work never ends; the preparation of the source is Jobs.
each_workload = pytest.mark.parametrize("scenario", [p for p in scenarios() if "source" not in title(p)], ids=title)
each_chart = pytest.mark.parametrize("scenario", [p for p in scenarios() if p.name == "prod-values.yaml"], ids=title)
KINDS = {
    "apicurio-registry": {
        "ConfigMap",
        "Deployment",
        "NetworkPolicy",
        "PodDisruptionBudget",
        "Service",
        "ServiceAccount",
    },
}
KINDS["kafka-connect"] = KINDS["apicurio-registry"] | {"CronJob", "Job"}
KINDS["source-database"] = {"ConfigMap", "CronJob", "Job", "NetworkPolicy", "ServiceAccount"}
PROGRAMS = (".py", "password.sql")


def leaves(node: object, path: str = "") -> list[tuple[str, str]]:
    """Path and text of every value of a manifest."""
    if isinstance(node, dict):
        return [leaf for key, child in node.items() for leaf in leaves(child, f"{path}/{key}")]
    if isinstance(node, list):
        return [leaf for child in node for leaf in leaves(child, path)]
    return [(path, str(node))]


@each_scenario
def test_nothing_but_the_known_kinds_is_made(scenario: Path) -> None:
    assert {one["kind"] for one in rendered(scenario)} == KINDS[chart_of(scenario).name]


@each_scenario
def test_no_secret_is_in_any_manifest(scenario: Path) -> None:
    """Not as a Secret, not as a variable, not in settings: credentials exist in the pod's memory only."""
    password = re.compile(r'"?[\w.]*password"?\s*[:=]\s*"?(?!\$\{)[^\s"{]', re.IGNORECASE)
    configuration = [leaves(one.get("data", {})) for one in of_kind(rendered(scenario), "ConfigMap")]
    settings = [text for found in configuration for path, text in found if not path.endswith(PROGRAMS)]
    variables = [
        variable for pod in pods(rendered(scenario)) for one in containers(pod) for variable in one.get("env", [])
    ]
    assert not [text for text in settings if password.search(text)]
    assert not [one["name"] for one in variables if re.search("PASSWORD|ACCESS_KEY|TOKEN", one["name"])]
    assert not [one["name"] for one in variables if "secretKeyRef" in one.get("valueFrom", {})]


def test_a_planted_password_would_be_found() -> None:
    password = re.compile(r'"?[\w.]*password"?\s*[:=]\s*"?(?!\$\{)[^\s"{]', re.IGNORECASE)
    assert password.search('{"database.password": "hunter2"}')
    assert password.search("apicurio.datasource.password=hunter2")
    assert not password.search('{"database.password": "${secrets:database:password}"}')


@each_scenario
def test_every_pod_runs_as_somebody_else_than_root(scenario: Path) -> None:
    for pod in pods(rendered(scenario)):
        context = pod["spec"]["securityContext"]
        assert context["runAsNonRoot"] is True
        assert context["runAsUser"] >= 1000
        assert context["seccompProfile"] == {"type": "RuntimeDefault"}


@each_scenario
def test_every_container_is_locked(scenario: Path) -> None:
    for pod in pods(rendered(scenario)):
        for container in containers(pod):
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }


@each_scenario
def test_every_container_says_what_it_needs(scenario: Path) -> None:
    for pod in pods(rendered(scenario)):
        for container in containers(pod):
            needs = container["resources"]
            assert set(needs["requests"]) == {"cpu", "memory"}
            # Memory can't be shared out twice; a limit of CPU would only slow a free machine down.
            assert needs["limits"] == {"memory": needs["requests"]["memory"]}


@each_scenario
def test_no_pod_speaks_to_kubernetes(scenario: Path) -> None:
    for account in of_kind(rendered(scenario), "ServiceAccount"):
        assert account["automountServiceAccountToken"] is False
    for pod in pods(rendered(scenario)):
        assert pod["spec"]["automountServiceAccountToken"] is False


@each_scenario
def test_images_are_pinned(scenario: Path) -> None:
    for pod in pods(rendered(scenario)):
        for container in containers(pod):
            assert re.fullmatch(r"[\w./-]+:\d[\w.-]*(@sha256:[0-9a-f]{64})?", container["image"])


@each_chart
def test_a_digest_decides_where_there_is_one(scenario: Path) -> None:
    container = workload(scenario)["spec"]["containers"][0]
    assert container["image"].endswith("@sha256:" + "0" * 64)


@each_scenario
def test_credentials_are_kept_in_memory(scenario: Path) -> None:
    volumes = {one["name"]: one for one in workload(scenario)["spec"]["volumes"]}
    assert volumes["credentials"]["emptyDir"]["medium"] == "Memory"


@each_scenario
def test_whatever_is_mounted_has_a_volume(scenario: Path) -> None:
    for pod in pods(rendered(scenario)):
        volumes = {one["name"] for one in pod["spec"]["volumes"]}
        assert {mount["name"] for one in containers(pod) for mount in one["volumeMounts"]} == volumes


@each_workload
def test_the_workload_has_all_three_probes(scenario: Path) -> None:
    (container,) = workload(scenario)["spec"]["containers"]
    ports = {port["name"] for port in container["ports"]}
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        (check,) = (container[probe][kind] for kind in ("httpGet", "tcpSocket") if kind in container[probe])
        assert check["port"] in ports
    patience = container["startupProbe"]["failureThreshold"] * container["startupProbe"]["periodSeconds"]
    assert patience >= 180  # a new node has to pull the images first


@pytest.mark.parametrize("scenario", scenarios("apicurio-registry"), ids=title)
def test_the_registry_lets_in_whom_the_local_one_does(scenario: Path) -> None:
    local = Registry(load_environment()).environment()
    rules = {name: value for name, value in local.items() if "AUTH" in name or name.endswith("EMBEDDED_PLAIN_TEXT")}
    there = {one["name"]: one.get("value") for one in workload(scenario)["spec"]["containers"][0]["env"]}
    assert len(rules) == 4 and rules.items() <= there.items()


def test_the_load_balancer_is_under_the_groups_that_are_given() -> None:
    prod = scenarios("apicurio-registry")[-1]
    notes = only(rendered(prod), "Service", "-internal")["metadata"]["annotations"]
    prefix = "service.beta.kubernetes.io/aws-load-balancer-"
    assert notes[f"{prefix}security-groups"] == "sg-0123456789abcdef0"
    assert notes[f"{prefix}manage-backend-security-group-rules"] == "true"


@each_workload
def test_a_drain_takes_one_pod_at_a_time_and_never_hangs(scenario: Path) -> None:
    budget = only(rendered(scenario), "PodDisruptionBudget")["spec"]
    assert budget["maxUnavailable"] == 1
    assert selects(budget["selector"]["matchLabels"], workload(scenario))


@each_workload
def test_replicas_are_spread_over_zones_where_there_are_several(scenario: Path) -> None:
    deployment = only(rendered(scenario), "Deployment")["spec"]
    spread = deployment["template"]["spec"].get("topologySpreadConstraints", [])
    assert [one["topologyKey"] for one in spread] == ["topology.kubernetes.io/zone"] * (deployment["replicas"] > 1)
    for one in spread:
        assert selects(one["labelSelector"]["matchLabels"], workload(scenario))


@pytest.mark.parametrize("chart", ["kafka-connect", "apicurio-registry"])
def test_demo_is_one_replica_and_prod_is_three(chart: str) -> None:
    sizes = {path.name: only(rendered(path), "Deployment")["spec"]["replicas"] for path in scenarios(chart)}
    assert (sizes["demo-values.yaml"], sizes["prod-values.yaml"]) == (1, 3)


@each_scenario
def test_every_pod_is_under_one_network_policy_for_both_directions(scenario: Path) -> None:
    policies = [one["spec"] for one in of_kind(rendered(scenario), "NetworkPolicy")]
    for pod in pods(rendered(scenario)):
        (policy,) = [one for one in policies if selects(one["podSelector"]["matchLabels"], pod)]
        assert policy["policyTypes"] == ["Ingress", "Egress"]


@each_scenario
def test_nothing_comes_in_from_everywhere(scenario: Path) -> None:
    for rule in rules(scenario, "ingress"):
        assert rule["ports"] and rule["from"]
        assert "0.0.0.0/0" not in str(rule)


@each_scenario
def test_only_names_and_https_go_out_to_everywhere(scenario: Path) -> None:
    everywhere = [rule for rule in rules(scenario, "egress") if "to" not in rule or "0.0.0.0/0" in str(rule["to"])]
    assert {port["port"] for rule in everywhere for port in rule["ports"]} <= {53, 443}
    assert all(rule["ports"] for rule in rules(scenario, "egress"))


@each_scenario
def test_only_the_registry_has_a_load_balancer_and_it_is_internal(scenario: Path) -> None:
    balanced = [one for one in of_kind(rendered(scenario), "Service") if one["spec"]["type"] != "ClusterIP"]
    if chart_of(scenario).name != "apicurio-registry":
        assert balanced == []
        return
    (service,) = balanced
    assert service["spec"]["type"] == "LoadBalancer"
    assert service["metadata"]["annotations"]["service.beta.kubernetes.io/aws-load-balancer-scheme"] == "internal"
    assert service["spec"]["allocateLoadBalancerNodePorts"] is False
    allowed = [
        peer["ipBlock"]["cidr"] for rule in rules(scenario, "ingress") for peer in rule["from"] if "ipBlock" in peer
    ]
    assert service["spec"]["loadBalancerSourceRanges"] == allowed != []


def test_without_a_load_balancer_the_registry_is_reached_by_connect_alone() -> None:
    demo = scenarios("apicurio-registry")[0]
    manifests = rendered(demo, {"internalLoadBalancer": {"enabled": False}})
    assert [one["spec"]["type"] for one in of_kind(manifests, "Service")] == ["ClusterIP"]
    (rule,) = only(manifests, "NetworkPolicy")["spec"]["ingress"]
    assert rule["from"] == [{"podSelector": {"matchLabels": {"app.kubernetes.io/name": "kafka-connect"}}}]


@pytest.mark.parametrize("scenario", scenarios("source-database"), ids=title)
def test_a_deployment_and_the_schedule_prepare_the_source_the_same_way(scenario: Path) -> None:
    manifests = rendered(scenario)
    job, repeated = only(manifests, "Job"), only(manifests, "CronJob", "release")["spec"]
    assert repeated["jobTemplate"]["spec"]["template"] == job["spec"]["template"]
    assert repeated["concurrencyPolicy"] == "Forbid"
    assert job["metadata"]["annotations"]["helm.sh/hook"] == "post-install,post-upgrade"
    assert job["spec"]["activeDeadlineSeconds"] < 15 * 60  # what helm waits


@pytest.mark.parametrize("scenario", scenarios("source-database"), ids=title)
def test_the_guardian_looks_until_the_next_run_has_begun(scenario: Path) -> None:
    guardian = only(rendered(scenario), "CronJob", "-guardian")["spec"]
    assert (guardian["schedule"], guardian["concurrencyPolicy"]) == ("*/5 * * * *", "Allow")
    run = guardian["jobTemplate"]["spec"]
    (container,) = run["template"]["spec"]["containers"]
    *_, seconds = container["command"]
    assert 5 * 60 < int(seconds) < run["activeDeadlineSeconds"]


def test_psql_finds_its_scripts_and_the_authority() -> None:
    demo, prod = scenarios("source-database")
    files = only(rendered(prod), "ConfigMap", "-sql")["data"]
    (sql,) = [one for one in workload(prod)["spec"]["volumes"] if one["name"] == "sql"]
    assert {one["path"]: one["key"] for one in sql["configMap"]["items"]} == {
        "server.sql": "server.sql",
        "shared.sql": "shared.sql",
        "databases/moma.sql": "moma.database.sql",
        "databases/shop.sql": "shop.database.sql",
    }
    assert set(files) == {one["key"] for one in sql["configMap"]["items"]}
    tls = [container(path, "write-logins")["args"][3:] for path in (demo, prod)]
    assert tls == [["require", ""], ["verify-full", "/etc/lake/programs/database.pem"]]
    assert "database.pem" in only(rendered(prod), "ConfigMap", "-programs")["data"]


def test_the_sql_arrives_as_it_was_rendered() -> None:
    given = source_sql(load_databases(ROOT))
    manifests = rendered(scenarios("source-database")[0], {"sql": given})
    assert only(manifests, "ConfigMap", "-sql")["data"] == {
        "server.sql": given["server"],
        "shared.sql": given["shared"],
        "moma.database.sql": given["databases"]["moma"],
    }


def container(scenario: Path, name: str) -> Manifest:
    (found,) = [one for one in containers(workload(scenario)) if one["name"] == name]
    return found


@each_workload
def test_a_change_of_configuration_replaces_the_pods(scenario: Path) -> None:
    other = {"tools": {}, "databaseCaBundle" if "connect" in title(scenario) else "database": change(scenario)}
    before, after = (only(one, "Deployment") for one in (rendered(scenario), rendered(scenario, other)))
    assert checksums(before) != checksums(after)


def change(scenario: Path) -> Any:
    text = "-----BEGIN CERTIFICATE-----\nother\n-----END CERTIFICATE-----\n"
    return text if "connect" in title(scenario) else {"caBundle": text}


def checksums(deployment: Manifest) -> dict[str, str]:
    annotations: dict[str, str] = deployment["spec"]["template"]["metadata"]["annotations"]
    return annotations


def rules(scenario: Path, direction: str) -> list[Manifest]:
    return [rule for one in of_kind(rendered(scenario), "NetworkPolicy") for rule in one["spec"].get(direction, [])]


def workload(scenario: Path) -> Manifest:
    """The pod that does the chart's work."""
    kind = "Job" if chart_of(scenario).name == "source-database" else "Deployment"
    pod: Manifest = only(rendered(scenario), kind)["spec"]["template"]
    return pod
