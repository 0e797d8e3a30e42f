"""What MSK Connect is told: the settings of EKS, in the places where MSK Connect takes them."""

import base64
import json
from pathlib import Path

import pytest

from lake.aws.managed_connect import connector_settings, tls, worker_settings
from lake.config.environment import PROJECT
from lake.config.errors import BadInput

TEMPLATE = Path("connector_configs/source_postgres_kafka.json")
# By "Supported worker configuration properties" of the guide of MSK: what begins so, or is this, is refused.
FORBIDDEN = (
    *("access.control.", "admin.", "client.", "connect.", "inter.worker.", "internal.", "listeners.", "metrics."),
    *("rest.", "sasl.", "security.", "socket.", "ssl.", "topic.tracking.", "worker.", "bootstrap.servers"),
    *("config.storage.topic", "connector.client.config.override.policy", "group.id", "plugin.path"),
    *("scheduled.rebalance.max.delay.ms", "status.storage.topic"),
)


def worker(root: Path = PROJECT) -> dict[str, str]:
    secrets = {"database": "arn:one", "registry": "arn:two"}
    return worker_settings(root, offsets="offsets", region="eu-central-1", secrets=secrets)


def with_template(folder: Path, **changes: str) -> Path:
    settings = json.loads((PROJECT / TEMPLATE).read_text())
    (folder / TEMPLATE).parent.mkdir(parents=True)
    (folder / TEMPLATE).write_text(json.dumps({**settings, **changes}))
    return folder


def test_a_worker_is_told_only_what_msk_connect_takes() -> None:
    assert [key for key in worker() if key.startswith(FORBIDDEN)] == []
    assert {"key.converter", "value.converter"} <= worker().keys()


def test_every_override_of_the_template_is_a_setting_of_the_worker() -> None:
    template = json.loads((PROJECT / TEMPLATE).read_text())
    overrides = {key.removeprefix("producer.override."): value for key, value in template.items() if "override" in key}
    told = {key.removeprefix("producer."): value for key, value in worker().items() if key.startswith("producer.")}
    assert overrides.items() - told.items() == {("max.in.flight.requests.per.connection", "5")}  # Kafka's own default
    assert told["max.request.size"] == "16777216"


@pytest.mark.parametrize("key", ["retries", "max.in.flight.requests.per.connection"])
def test_an_override_without_a_place_is_refused(key: str, tmp_path: Path) -> None:
    root = with_template(tmp_path, **{f"producer.override.{key}": "1"})
    with pytest.raises(BadInput, match=rf"cannot set {key} of a producer to 1.*connect\.kind: eks"):
        worker(root)


def test_a_connector_reads_the_secrets_that_its_worker_names() -> None:
    assert worker()["config.providers.secrets.param.secrets"] == "database=arn:one,registry=arn:two"


def test_a_connector_keeps_all_other_settings() -> None:
    given = {"name": "x", "producer.override.acks": "all", "slot.name": "lake_moma"}
    assert connector_settings(given) == {"slot.name": "lake_moma"}


def test_the_placeholder_fits_into_a_template() -> None:
    """Debezium reads octets after hex:, and CloudFormation takes no U+0000."""
    found = connector_settings({"unavailable.value.placeholder": "lake\0unavailable"})
    octets = found["unavailable.value.placeholder"].removeprefix("hex:")
    assert bytes.fromhex(octets).decode() == "lake\0unavailable"


def test_authorities_stand_in_the_settings_because_no_file_reaches_the_worker() -> None:
    found = tls("-----BEGIN CERTIFICATE-----\nx\n")
    assert base64.b64decode(found["driver.sslfactoryarg"]).decode().startswith("-----BEGIN")
    assert found["database.sslmode"] == "verify-full" and "\n" not in found["driver.sslfactoryarg"]
    assert tls("") == {"database.sslmode": "require"}
