"""Environment files of AWS: what they mean, and that a wrong one is refused in one line before any synth."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from lake.aws.environment import load_aws_environment
from lake.config.errors import BadInput
from tests.existing import EXISTING_CLUSTER, EXISTING_DATABASE, EXISTING_KAFKA, EXISTING_VPC

PROJECT = Path(__file__).parents[2]
AWS = ["demo", "dev", "prod"]
JOB = {"layers": ["silver", "bronze"]}
SERVERLESS = {"processing.kind": "serverless", "processing.release": "emr-7.10.0"}
# What is changed in a good file (None removes the key), and the words that the one line must hold.
MUTATIONS: list[tuple[str, dict[str, Any], list[str]]] = [
    ("no region", {"region": None}, ["a required key is missing", "key region", "add 'region'"]),
    ("region", {"region": "Frankfurt"}, ["key region", "'Frankfurt'"]),
    ("keep_data is text", {"keep_data": "no way"}, ["valid boolean", "key keep_data"]),
    ("no keep_data", {"keep_data": None}, ["a required key is missing", "add 'keep_data'"]),
    ("name too long", {"name": "production-of-the-north"}, ["key name", "production-of"]),
    ("other name", {"name": "prod"}, ["environment 'prod' is in a file with another name", "write name: test"]),
    ("account", {"account": "1"}, ["unknown key", "key account", "known keys: catalog, connect"]),
    ("taken tag", {"tags": {"lake": "x"}}, ["the tag 'lake' is taken", "choose another key"]),
    ("tag of AWS", {"tags": {"aws:x": "x"}}, ["the tag 'aws:x' is taken", "choose another key"]),
    ("boundary of a role", {"permissions_boundary": "arn:aws:iam::123456789012:role/x"}, ["nor the ARN of a policy"]),
    ("boundary with spaces", {"permissions_boundary": "My Boundary"}, ["neither the name", "permissions_boundary"]),
    ("tiers without days", {"storage.bronze_tiering": {}}, ["no days", "infrequent_access_days or glacier_ir_days"]),
    ("tier too early", {"storage.bronze_tiering": {"infrequent_access_days": 7}}, ["greater than or equal to 30"]),
    (
        "tiers too close",
        {"storage.bronze_tiering": {"infrequent_access_days": 30, "glacier_ir_days": 45}},
        ["glacier_ir_days 45", "write 60 or more"],
    ),
    ("unknown tier", {"storage.bronze_tiering": {"deep_archive_days": 180}}, ["unknown key", "deep_archive_days"]),
    ("readers of nobody", {"catalog.readers": ["Analysts"]}, ["readers without lake_formation", "true"]),
    (
        "lake formation without glue",
        {"catalog.lake_formation": True, "processing.metastore": "hive"},
        ["lake_formation with processing.metastore hive", "remove one"],
    ),
    (
        "serverless has no nodes",
        {**SERVERLESS, "processing.core": "r6g.xlarge"},
        ["'core' with kind", "no nodes", "remove"],
    ),
    ("no scaling", {**SERVERLESS, "processing.nodes": {"maximum": 9}}, ["'nodes' with kind", "limits says"]),
    ("no primary", {**SERVERLESS, "processing.primary": "m6g.xlarge"}, ["'primary' with kind", "driver_memory"]),
    ("no steps", {**SERVERLESS, "processing.step_concurrency": 20}, ["'step_concurrency' with", "has no steps"]),
    ("stops itself", {**SERVERLESS, "processing.idle_minutes": 60}, ["'idle_minutes' with", "stops by itself"]),
    ("certificates", {**SERVERLESS, "processing.certificates": "s3://b/x.zip"}, ["makes the certificates", "remove"]),
    ("no metastore", {**SERVERLESS, "processing.metastore": "hive"}, ["metastore hive", "no node for one"]),
    ("old release", {"processing.kind": "serverless"}, ["emr-6.15.0 keeps no streaming", "write release: emr-7.10.0"]),
    ("7.0", {**SERVERLESS, "processing.release": "emr-7.0.0"}, ["emr-7.0.0 keeps no streaming", "emr-7.1.0"]),
    ("limits of nothing", {"processing.limits": {"vcpus": 8}}, ["'limits' has no effect with kind: ec2"]),
    (
        "limits too low",
        {**SERVERLESS, "processing.limits": {"vcpus": 8, "memory_gb": 64}},
        ["the jobs and one that runs once take 11 vCPUs and 28 GB", "write limits: {vcpus: 11, memory_gb: 28}"],
    ),
    ("worker", {**SERVERLESS, "processing.sales": {"driver_memory": "200g"}}, ["more than a worker", "108g"]),
    (
        "streamer on serverless",
        {**SERVERLESS, "processing.jobs": ["stream", "streamer"]},
        ["our classes for HoodieStreamer", "remove streamer"],
    ),
    ("unknown part", {"netwrok": {}}, ["unknown key", "key netwrok", "did you mean 'network'?"]),
    ("unknown key", {"source.instanse": "db.t4g.small"}, ["key source.instanse", "did you mean 'instance'?"]),
    ("no budget", {"operations.budget_usd": None}, ["a required key is missing", "key operations", "add 'budget_usd'"]),
    ("part is a list", {"network": []}, ["valid dictionary", "key network"]),
    ("cidr", {"network.cidr": "10.20.0.1/16"}, ["'10.20.0.1/16' is not a network", "host bits 0"]),
    ("public cidr", {"network.cidr": "52.0.0.0/16"}, ["public address space", "10.0.0.0/8"]),
    ("cidr too small", {"network.cidr": "10.20.0.0/24"}, ["has no room", "at least /22"]),
    ("one zone", {"network.availability_zones": 1}, ["1 different zones", "network.availability_zones"]),
    (
        "one name",
        {"network.availability_zones": ["eu-central-1a"]},
        ["1 different zones", "network.availability_zones"],
    ),
    ("zone abroad", {"network.availability_zones": ["eu-central-1a", "us-east-1a"]}, ["'us-east-1a' is no zone of"]),
    ("zone twice", {"network.availability_zones": ["eu-central-1a"] * 2}, ["1 different zones"]),
    ("local zone", {"network.availability_zones": ["eu-central-1-ham-1a", "eu-central-1a"]}, ["is no zone of"]),
    ("gateways", {"network.nat_gateways": 3}, ["nat_gateways 3 exceeds availability_zones 2", "lower it"]),
    ("overlap", {"network.source_vpc": {"cidr": "10.20.4.0/22"}}, ["overlaps 10.20.0.0/16", "must not overlap"]),
    ("existing and new", {"network.existing": EXISTING_VPC, "network.nat_gateways": 2}, ["'nat_gateways'", "remove"]),
    ("subnets", {"network.existing": {**EXISTING_VPC, "private_subnets": ["subnet-12345678"]}}, ["at least 2 items"]),
    ("tables", {"network.existing": {**EXISTING_VPC, "route_tables": []}}, ["0 route_tables for 2", "one per zone"]),
    ("vpc id", {"network.existing": {**EXISTING_VPC, "vpc_id": "main"}}, ["network.existing.vpc_id", "'main'"]),
    ("instance", {"source.instance": "t4g.medium"}, ["key source.instance", "'t4g.medium'"]),
    ("storage is text", {"source.storage_gb": "50 GB"}, ["valid integer", "key source.storage_gb"]),
    ("slot fills disk", {"source.max_slot_wal_gb": 40}, ["more than half of storage_gb 50", "lower it"]),
    (
        "no backups",
        {"keep_data": True, "source.backup_days": 0},
        ["keep_data without backups", "set source.backup_days"],
    ),
    ("a cluster without its VPC", {"connect.existing": EXISTING_CLUSTER}, ["connect.existing", "network.existing"]),
    (
        "existing cluster and access",
        {"network.existing": EXISTING_VPC, "connect.existing": EXISTING_CLUSTER, "connect.api_access": ["10.0.0.0/16"]},
        ["'api_access'", "remove"],
    ),
    (
        "pods without Kubernetes",
        {"connect": {"kind": "msk_connect", "memory_mb": 4096, "container_insights": True}},
        ["'container_insights' has no effect with kind: msk_connect", "remove container_insights and memory_mb"],
    ),
    (
        "both kinds of Connect",
        {"network.existing": EXISTING_VPC, "connect": {"kind": "msk_connect", "existing": EXISTING_CLUSTER}},
        ["'existing' has no effect with kind: msk_connect"],
    ),
    (
        "a sink on MSK Connect",
        {"connect": {"kind": "msk_connect", "s3_sink": {"archive": "x.zip", "sha256": "0" * 64}}},
        ["from one plug-in", "remove s3_sink, or take kind: eks"],
    ),
    ("units of EKS", {"connect.units": 2}, ["'units' has no effect with kind: eks", "remove units"]),
    ("units", {"connect": {"kind": "msk_connect", "units": 3}}, ["1, 2, 4 or 8", "key connect.units"]),
    ("kind of Connect", {"connect.kind": "ecs"}, ["'eks' or 'msk_connect'", "key connect.kind"]),
    (
        "the registry of Glue",
        {"connect": {"kind": "msk_connect", "registry": "glue"}},
        ["unknown key", "key connect.registry"],
    ),
    ("existing database", {"source.existing": EXISTING_DATABASE, "source.multi_az": True}, ["'multi_az'", "remove"]),
    (
        "key is an ARN",
        {"source.existing": {**EXISTING_DATABASE, "admin_key": "arn:x:y"}},
        ["source.existing.admin_key"],
    ),
    ("no archive", {"connect.s3_sink": {"sha256": "0" * 64}}, ["a required key is missing", "add 'archive'"]),
    ("no checksum", {"connect.s3_sink": {"archive": "x.zip"}}, ["a required key is missing", "add 'sha256'"]),
    ("a jar", {"connect.s3_sink": {"archive": "x.jar", "sha256": "0" * 64}}, ["connect.s3_sink.archive", "'x.jar'"]),
    ("secret is an ARN", {"source.existing": {**EXISTING_DATABASE, "admin_secret": "arn:x:y"}}, ["admin_secret"]),
    (
        "two homes",
        {"source.existing": EXISTING_DATABASE, "network.source_vpc": {"cidr": "10.9.0.0/16"}},
        ["source.existing with network.source_vpc", "remove one"],
    ),
    ("kind", {"streaming.kind": "zookeeper"}, ["'provisioned' or 'serverless'", "key streaming.kind"]),
    ("broker", {"streaming.broker": "kafka.t3.smal"}, ["key streaming.broker", "'kafka.t3.smal'"]),
    ("serverless", {"streaming": {"kind": "serverless", "volume_gb": 100}}, ["'volume_gb' has no effect with"]),
    (
        "two brokers",
        {"streaming.brokers_per_zone": 1},
        ["2 brokers cannot hold 3 copies", "set streaming.brokers_per_zone"],
    ),
    (
        "brokers of others, sized",
        {"network.existing": EXISTING_VPC, "streaming": {"existing": EXISTING_KAFKA, "volume_gb": 100}},
        ["'volume_gb' has no effect with existing", "remove"],
    ),
    (
        "brokers of others, uncounted",
        {"network.existing": EXISTING_VPC, "streaming.existing": {**EXISTING_KAFKA, "brokers": None}},
        ["without its brokers", "add existing.brokers"],
    ),
    (
        "serverless of others, counted",
        {"network.existing": EXISTING_VPC, "streaming": {"kind": "serverless", "existing": EXISTING_KAFKA}},
        ["existing.brokers has no effect", "remove it"],
    ),
    (
        "two brokers of others",
        {"network.existing": EXISTING_VPC, "streaming.existing": {**EXISTING_KAFKA, "brokers": 2}},
        ["2 brokers cannot hold 3 copies", "take another cluster"],
    ),
    ("brokers without their VPC", {"streaming.existing": EXISTING_KAFKA}, ["streaming.existing", "network.existing"]),
    (
        "brokers abroad",
        {
            "network.existing": EXISTING_VPC,
            "streaming.existing": {**EXISTING_KAFKA, "arn": EXISTING_KAFKA["arn"].replace("eu-central-1", "us-east-1")},
        },
        ["streaming.existing.arn is of us-east-1", "eu-central-1"],
    ),
    (
        "the name of a cluster",
        {"network.existing": EXISTING_VPC, "streaming.existing": {**EXISTING_KAFKA, "arn": "shared"}},
        ["streaming.existing.arn", "'shared'"],
    ),
    ("disk shrinks", {"streaming.max_volume_gb": 20}, ["max_volume_gb 20 is less than volume_gb 50", "raise it"]),
    ("retention", {"streaming.retention_hours": 24}, ["greater than or equal to 168", "streaming.retention_hours"]),
    ("world", {"connect.api_access": ["0.0.0.0/0"]}, ["lets in most of the internet", "connect.api_access.0"]),
    ("release", {"processing.release": "emr-99"}, ["'emr-99' is not known", "emr-6.15.0, emr-7.0.0"]),
    ("old release", {"processing.release": "emr-6.14.0"}, ["carries Hudi 0.13.1", "0.14 and 0.15", "emr-7.10.0"]),
    ("new release", {"processing.release": "emr-7.12.0"}, ["carries Hudi 1.0.2", "0.14 and 0.15", "emr-7.10.0"]),
    (
        "streamer on 7.10",
        {"processing.release": "emr-7.10.0", "processing.jobs": ["stream", "streamer"]},
        ["carries Hudi 0.15.0", "built with 0.14.0, the newest there is", "remove streamer"],
    ),
    ("nodes", {"processing.nodes": {"minimum": 5}}, ["minimum 5 exceeds maximum 3", "raise maximum"]),
    ("two writers", {"processing.jobs": {"a": JOB, "b": JOB}}, ["layer bronze is written by two jobs", "keep one"]),
    ("no silver", {"processing.jobs": {"a": {"layers": ["bronze"]}}}, ["no job writes silver", "add it"]),
    (
        "reserved name",
        {"processing.jobs": {"stream": JOB, "streamer": JOB}},
        ["HoodieStreamer's", "processing.streamer"],
    ),
    ("name of sales", {"processing.jobs": {"sales-seed": JOB}}, ["a job named sales-seed", "choose another"]),
    ("no layers", {"processing.jobs": {"stream": JOB, "more": {}}}, ["job more writes no layer", "layers: [silver]"]),
    ("unknown job", {"processing.jobs": ["stream", "more"]}, ["'more' has no layers", "more: {layers: [silver]}"]),
    ("no archive", {"processing.jobs": ["silver", "streamer"]}, ["no job writes bronze", "add bronze"]),
    ("no sink", {"processing.streamer": {"source": "s3_sink"}}, ["no sink connector writes it", "connect.s3_sink"]),
    ("streamer types", {"processing.streamer": {"types": ["row"]}}, ["'cow' or 'mor'", "streamer.types"]),
    ("layer", {"processing.jobs": {"a": {"layers": ["gold"]}}}, ["'silver' or 'bronze'", "jobs.a.layers"]),
    ("memory", {"processing.jobs": {"a": {**JOB, "driver_memory": "lots"}}}, ["driver_memory", "'lots'"]),
    ("steps", {"processing.step_concurrency": 1}, ["greater than or equal to 2", "step_concurrency"]),
    ("ends itself", {"keep_data": True, "processing.idle_minutes": 60}, ["ends itself", "remove processing.idle"]),
    ("daily", {"operations.schedule": {"verify": "daily"}}, ["'daily' is no schedule", "write rate(1 day), or"]),
    ("once", {"operations.schedule": {"verify": "at(2026-01-01T00:00:00)"}}, ["is no schedule", "schedule.verify"]),
    ("singular", {"operations.schedule": {"verify": "rate(1 days)"}}, ["write 1 day, or more days"]),
    ("never", {"operations.schedule": {"verify": "rate(0 days)"}}, ["'rate(0 days)' is no schedule"]),
    ("too often", {"operations.schedule": {"verify": "rate(10 minutes)"}}, ["too often", "15 minutes"]),
    ("each minute", {"operations.schedule": {"verify": "cron(* 2 * * ? *)"}}, ["too often", "such as 0 or 0,30"]),
    ("each 5 minutes", {"operations.schedule": {"verify": "cron(0/5 2 * * ? *)"}}, ["too often"]),
    ("minute", {"operations.schedule": {"verify": "cron(60 2 * * ? *)"}}, ["one to four minutes"]),
    ("five fields", {"operations.schedule": {"verify": "cron(0 2 * * ?)"}}, ["is no schedule"]),
    ("two days", {"operations.schedule": {"verify": "cron(0 2 * * * *)"}}, ["write ? for the other one"]),
    ("no day", {"operations.schedule": {"verify": "cron(0 2 ? * ? *)"}}, ["write ? for the other one"]),
    ("field", {"operations.schedule": {"verify": "cron(0 two * * ? *)"}}, ["is no schedule"]),
    ("name of a routine", {"operations.schedule": {"Verify": "rate(1 day)"}}, ["operations.schedule"]),
    (
        "schedule on a cluster that ends",
        {"operations.schedule": {"verify": "rate(1 day)"}, "processing.idle_minutes": 60},
        ["operations.schedule with a cluster that ends itself", "remove processing.idle_minutes"],
    ),
    ("refine", {"operations.refine": "x.yaml"}, ["operations.refine"]),
    ("log days", {"operations.log_days": 8}, ["input should be 1, 3, 5", "operations.log_days"]),
    ("email", {"operations.email": "ops"}, ["key operations.email", "'ops'"]),
    ("budget", {"operations.budget_usd": 0}, ["greater than or equal to 1", "operations.budget_usd"]),
]


def good() -> dict[str, Any]:
    return {"name": "test", "region": "eu-central-1", "keep_data": False, "operations": {"budget_usd": 100}}


def changed(content: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    for path, value in changes.items():
        *parents, key = path.split(".")
        part = content
        for parent in parents:
            part = part.setdefault(parent, {})
        part[key] = value
        if value is None:
            del part[key]
    return content


def load(folder: Path, content: dict[str, Any]) -> Any:
    (folder / "environments").mkdir()
    (folder / "environments/test.yaml").write_text(yaml.safe_dump(content, sort_keys=False))
    return load_aws_environment(folder, "test")


@pytest.mark.parametrize(("changes", "says"), [case[1:] for case in MUTATIONS], ids=[case[0] for case in MUTATIONS])
def test_a_wrong_file_is_refused_in_one_line(changes: dict[str, Any], says: list[str], tmp_path: Path) -> None:
    with pytest.raises(BadInput) as refused:
        load(tmp_path, changed(good(), changes))
    line = str(refused.value)
    assert [words for words in ["test.yaml", *says] if words not in line] == []
    what, where, now = refused.value.what, refused.value.where, refused.value.now
    assert "\n" not in line and what and where and now


def test_the_good_file_is_good(tmp_path: Path) -> None:
    assert load(tmp_path, good()).brokers == 4


def test_an_existing_network_brings_its_zones_and_addresses(tmp_path: Path) -> None:
    network = load(tmp_path, changed(good(), {"network.existing": EXISTING_VPC})).network
    assert (network.zones, network.lake_cidr) == (2, "10.50.0.0/16")


@pytest.mark.parametrize("when", ["rate(15 minutes)", "rate(1 hour)", "rate(2 days)", "cron(0,30 8-18 ? * MON-FRI *)"])
def test_a_schedule(when: str, tmp_path: Path) -> None:
    environment = load(tmp_path, changed(good(), {"operations.schedule": {"verify": when}}))
    assert environment.operations.schedule == {"verify": when}


def test_the_newer_release_is_one_value(tmp_path: Path) -> None:
    environment = load(tmp_path, changed(good(), {"processing.release": "emr-7.10.0"}))
    assert environment.processing.release == "emr-7.10.0"


@pytest.mark.parametrize("name", AWS)
def test_the_environments_of_this_project(name: str) -> None:
    assert load_aws_environment(PROJECT, name).name == name


def test_the_local_lake_is_not_deployed() -> None:
    with pytest.raises(BadInput, match=r"the local lake is not deployed; .*local\.yaml; name an AWS environment"):
        load_aws_environment(PROJECT, "local")


def test_an_unknown_environment_names_the_known_ones() -> None:
    with pytest.raises(BadInput, match=r"no such file; .*staging\.yaml; present there: .*prod\.yaml"):
        load_aws_environment(PROJECT, "staging")
