"""The worker of Kafka Connect: its settings, how it logs in, and that Kafka's own classes accept them."""

import json
import subprocess
from pathlib import Path

import pytest

from lake.config.environment import load_environment
from lake.local.connect import Connect
from tests.charts.rendering import ROOT, containers, of_kind, only, rendered, scenarios, title

SCENARIOS = {title(path).removeprefix("kafka-connect-"): path for path in scenarios("kafka-connect")}
# Where the cluster must differ from the local worker.
OF_THE_CLUSTER = {
    "bootstrap.servers": "one more place than the local broker",
    **dict.fromkeys(
        (f"{client}.bootstrap.servers" for client in ("admin", "consumer", "producer")), "those of the worker, as it is"
    ),
    "session.timeout.ms": "zones are milliseconds apart",
    "heartbeat.interval.ms": "a third of the session",
    "lake.rest.login.file": "made from Secrets Manager",
    "listeners": "all addresses of the pod",
    "rest.advertised.host.name": "the pod's address",
    "rest.advertised.port": "a port of its own",
    "config.storage.replication.factor": "that of the brokers",
    "offset.storage.replication.factor": "that of the brokers",
    "status.storage.replication.factor": "that of the brokers",
    "plugin.path": "where the bundle lies",
    "config.providers": "files made from Secrets Manager",
    "metadata.recovery.strategy": "brokers may get other addresses",
    "config.providers.file.class": "not needed",
    "config.providers.file.param.allowed.paths": "not needed",
}


def settings(scenario: str) -> dict[str, str]:
    text = only(rendered(SCENARIOS[scenario]), "ConfigMap", "-worker")["data"]["worker.properties"]
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return dict(line.split("=", 1) for line in lines)


def test_the_worker_is_set_up_as_the_local_one() -> None:
    local = {key: str(value) for key, value in Connect(load_environment()).settings().items()}
    there = settings("demo")
    assert {key for key, value in local.items() if there.get(key) != value} == set(OF_THE_CLUSTER)


def test_connectors_may_override_what_their_templates_override_and_no_more() -> None:
    templates = [json.loads(path.read_text()) for path in (ROOT / "connector_configs").glob("*.json")]
    prefixes = ("producer.override.", "consumer.override.", "admin.override.")
    wanted = {key.removeprefix(prefix) for one in templates for key in one for prefix in prefixes if prefix in key}
    assert settings("demo")["connector.client.config.override.policy"] == "Allowlist"
    assert set(settings("demo")["connector.client.config.override.allowlist"].split(",")) == wanted


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("prefix", ["", "producer.", "consumer.", "admin."])
def test_every_client_of_the_worker_logs_in_and_is_encrypted(scenario: str, prefix: str) -> None:
    found = settings(scenario)
    assert found[f"{prefix}security.protocol"] == "SASL_SSL"
    mechanism = "SCRAM-SHA-512" if scenario == "scram" else "AWS_MSK_IAM"
    assert found[f"{prefix}sasl.mechanism"] == mechanism
    assert f"{prefix}sasl.jaas.config" in found


@pytest.mark.parametrize(("scenario", "port"), [("prod", 9098), ("msk-serverless", 9098), ("scram", 9096)])
def test_the_network_policy_opens_the_port_of_the_protocol(scenario: str, port: int) -> None:
    policy = only(rendered(SCENARIOS[scenario]), "NetworkPolicy", "-worker")["spec"]
    ports = {one["port"] for rule in policy["egress"] for one in rule["ports"]}
    assert ports & {9092, 9094, 9096, 9098} == {port}
    assert settings(scenario)["bootstrap.servers"].endswith(f":{port}")


def test_rest_is_open_to_workers_the_hook_and_operators_only() -> None:
    (rule,) = only(rendered(SCENARIOS["prod"]), "NetworkPolicy", "-worker")["spec"]["ingress"]
    components = [peer["podSelector"]["matchLabels"] for peer in rule["from"]]
    assert [labels.get("app.kubernetes.io/component") for labels in components] == ["worker", "connectors", None]
    assert components[2] == {"lake/connect-operator": "true"}
    assert rule["ports"] == [{"port": 8083}]


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_connectors_may_read_two_secrets_and_no_file_with_a_login_of_callers(scenario: str) -> None:
    found = settings(scenario)
    named = dict(pair.split("=", 1) for pair in found["config.providers.secrets.param.secrets"].split(","))
    assert set(named) == {"database", "registry"} and not any("rest" in name for name in named.values())
    files = found.get("config.providers.directory.param.allowed.paths", "")
    assert files == ("/run/lake/kafka" if scenario == "scram" else "")
    assert found["lake.rest.login.file"].startswith("/run/lake/rest/")


def test_a_probe_needs_no_login() -> None:
    """RestLogin lets /health pass, and nothing else."""
    (worker,) = only(rendered(SCENARIOS["prod"]), "Deployment")["spec"]["template"]["spec"]["containers"]
    assert (
        worker["startupProbe"]["httpGet"] == worker["readinessProbe"]["httpGet"] == {"path": "/health", "port": "rest"}
    )
    assert worker["livenessProbe"]["tcpSocket"] == {"port": "rest"}


def test_the_registry_is_reached_by_its_label() -> None:
    policy = only(rendered(SCENARIOS["prod"]), "NetworkPolicy", "-worker")["spec"]
    registry = {"podSelector": {"matchLabels": {"app.kubernetes.io/name": "apicurio-registry"}}}
    assert {"to": [registry], "ports": [{"port": 8080}]} in policy["egress"]


def test_only_the_first_init_container_is_given_the_names_of_secrets() -> None:
    pod = only(rendered(SCENARIOS["scram"]), "Deployment")["spec"]["template"]
    named = {one["name"]: {variable["name"] for variable in one.get("env", [])} for one in containers(pod)}
    names = {"REST_SECRET", "SCRAM_SECRET"}
    assert names <= named.pop("fetch")
    assert not names & set().union(*named.values())


def test_the_rest_interface_finds_workers_not_the_hook() -> None:
    manifests = rendered(SCENARIOS["prod"])
    (service,) = of_kind(manifests, "Service")
    worker = only(manifests, "Deployment")["spec"]["template"]["metadata"]["labels"]
    hook = only(manifests, "Job")["spec"]["template"]["metadata"]["labels"]
    assert service["spec"]["selector"].items() <= worker.items()
    assert not service["spec"]["selector"].items() <= hook.items()


def options(scenario: str = "prod") -> list[str]:
    """What the worker's JVM is started with: it also says which providers of settings there may be."""
    worker = only(rendered(SCENARIOS[scenario]), "Deployment")["spec"]["template"]["spec"]["containers"][0]
    (found,) = [variable["value"] for variable in worker["env"] if variable["name"] == "KAFKA_OPTS"]
    return str(found).split()


@pytest.fixture(scope="module")
def as_kafka_reads_them(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    """The settings of all scenarios as the class of the real worker resolves them, in one JVM."""
    folder = tmp_path_factory.mktemp("worker")
    (folder / "kafka").mkdir()
    (folder / "kafka" / "jaas").write_text("a line of JAAS")
    for scenario in SCENARIOS:
        text = "".join(f"{key}={value}\n" for key, value in settings(scenario).items())
        (folder / f"{scenario}.properties").write_text(text.replace("/run/lake", str(folder)))
    source = Path(__file__).with_name("WorkerSettings.java")
    command = [
        "java",
        *options(),
        "-cp",
        f"{ROOT}/build/kafka/*:{ROOT}/build/connect/secrets/*",
        str(source),
        str(folder),
    ]
    environment = {"PATH": "/usr/bin:/bin", "POD_IP": "10.0.0.7", "REGISTRY_URL": "http://registry:8080"}
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    assert result.returncode == 0, result.stderr
    found: dict[str, dict[str, str]] = {scenario: {} for scenario in SCENARIOS}
    for line in result.stdout.splitlines():
        scenario, key, value = line.split("\t")
        found[scenario][key] = value
    return found


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_kafka_accepts_the_settings(as_kafka_reads_them: dict[str, dict[str, str]], scenario: str) -> None:
    found = as_kafka_reads_them[scenario]
    assert found["rest.advertised.host.name"] == "10.0.0.7"
    assert found["connector.client.config.override.policy"] == "Allowlist"
    assert found["plugin.discovery"] == "service_load"
    assert found["config.storage.replication.factor"] == "-1"
    assert found["config.providers"] == ("[secrets, env, directory]" if scenario == "scram" else "[secrets, env]")


def test_kafka_reads_the_login_from_the_file_of_the_secret(as_kafka_reads_them: dict[str, dict[str, str]]) -> None:
    assert as_kafka_reads_them["scram"]["producer.sasl.jaas.config"] == "a line of JAAS"
    assert as_kafka_reads_them["demo"]["producer.sasl.jaas.config"].endswith("IAMLoginModule required;")
