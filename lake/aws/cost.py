"""What a lake on AWS costs per month while no data flow: hours of machines, disks and fixed fees, at list prices.

Not included: traffic, requests, storage in S3, taxes, discounts. lake/aws/prices.yaml is the price list, with its
region and date; a test compares the counts with the synthesized templates.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field

from lake.aws.environment import AwsEnvironment
from lake.aws.part import Part
from lake.aws.workers import taken
from lake.config.errors import BadInput
from lake.config.yaml_file import as_model, read_mapping

PRICES = Path(__file__).with_name("prices.yaml")
HOURS = 730  # of a month, as AWS's own calculator counts
INTERFACE_ENDPOINTS = 15
EMR_DISK_GB = 100
KEYS, SECRETS = 8, 6
# Metrics that alarms read: of every lake, of its pods, of a source database that we create, and of each broker.
ALARMS, POD_ALARMS, SOURCE_ALARMS, BROKER_ALARMS = 7, 2, 5, 2
# Assumptions about choices of AWS: the node of Auto Mode, its memory for pods, and Connect's own topics.
NODE, NODE_USABLE_MB = "m5.large", 6144
REGISTRY_MB = PREPARATION_MB = 1024
SERVERLESS_PARTITIONS = 40
TASK_VCPU, PREPARING = (
    0.25,
    0.2,
)  # of a task on Fargate, which has 1 GB or half of it; the share of the time that one runs
# GB a month while nothing flows: the Kubernetes control plane (mostly its audit log), all pods, connections of a VPC.
CONTROL_PLANE_GB, PODS_GB, FLOWS_GB = 20, 5, 5
# What Container Insights measures every minute: of a cluster, a node with its agents, and a pod of the lake.
OF_CLUSTER, OF_NODE, OF_POD = 60, 200, 45
MINUTES = HOURS * 60
Price = Annotated[float, Field(ge=0)]


class Prices(Part):
    """The typed form of prices.yaml, US dollars."""

    date: str
    region: str
    hourly: dict[str, Price]
    surcharge: dict[str, Price]
    monthly: dict[str, Price]

    def hour(self, name: str) -> float:
        """BadInput if the list has no such price."""
        if name not in self.hourly:
            raise BadInput(f"there is no price of {name}", str(PRICES), "add it under 'hourly', from AWS's price page")
        return self.hourly[name]


@dataclass(frozen=True)
class Item:
    """A line of the estimate."""

    what: str
    count: float
    each: float  # US dollars a month

    @property
    def month(self) -> float:
        return self.count * self.each


def load_prices() -> Prices:
    return as_model(Prices, read_mapping(PRICES), PRICES)


def estimate(environment: AwsEnvironment, prices: Prices) -> list[Item]:
    """All items, in the order in which the stacks are deployed."""
    parts = (_network, _source, _streaming, _connect, _processing, _monitoring, _fees)
    return [item for part in parts for item in part(environment, prices)]


def _network(environment: AwsEnvironment, prices: Prices) -> Iterator[Item]:
    network = environment.network
    if network.existing is None:
        yield Item("NAT gateway", network.nat_gateways, HOURS * prices.hour("nat_gateway"))
    if network.interface_endpoints:
        count = INTERFACE_ENDPOINTS * network.zones
        yield Item("interface endpoint in a zone", count, HOURS * prices.hour("interface_endpoint"))


def _source(environment: AwsEnvironment, prices: Prices) -> Iterator[Item]:
    source = environment.source
    if source.existing is None:
        zones = 2 if source.multi_az else 1
        yield Item(f"RDS {source.instance}", zones, HOURS * prices.hour(source.instance))
        yield Item("GB of its disk", zones * source.storage_gb, prices.monthly["rds_gb"])


def _streaming(environment: AwsEnvironment, prices: Prices) -> Iterator[Item]:
    streaming = environment.streaming
    if streaming.existing:
        return
    if streaming.kind == "serverless":
        yield Item("MSK Serverless", 1, HOURS * prices.hour("msk_serverless_cluster"))
        yield Item("partition", SERVERLESS_PARTITIONS, HOURS * prices.hour("msk_serverless_partition"))
        return
    yield Item(f"MSK {streaming.broker}", environment.brokers, HOURS * prices.hour(streaming.broker))
    yield Item("GB of their disks", environment.brokers * streaming.volume_gb, prices.monthly["msk_gb"])


def _connect(environment: AwsEnvironment, prices: Prices) -> Iterator[Item]:
    managed = environment.connect.kind == "msk_connect"
    yield from (_on_msk if managed else _on_eks)(environment, prices)
    yield Item("load balancer of the registry", 1, HOURS * prices.hour("network_load_balancer"))


def _on_msk(environment: AwsEnvironment, prices: Prices) -> Iterator[Item]:
    """One connector, as for one database; the preparation of the source runs a minute in five."""
    yield Item("unit of MSK Connect", environment.connect.units, HOURS * prices.hour("msk_connect_unit"))
    cpu, gb = TASK_VCPU * prices.hour("fargate_vcpu"), prices.hour("fargate_gb")
    yield Item("Fargate, the registry", environment.connect.registry_replicas, HOURS * (cpu + gb))
    yield Item("Fargate, the preparation", PREPARING, HOURS * (cpu + gb / 2))


def _on_eks(environment: AwsEnvironment, prices: Prices) -> Iterator[Item]:
    node = prices.hour(NODE) * (1 + prices.surcharge["eks_auto_mode"])
    if environment.connect.existing is None:
        yield Item("EKS cluster", 1, HOURS * prices.hour("eks_cluster"))
    yield Item(f"its node, taken as {NODE}", nodes(environment), HOURS * node)


def nodes(environment: AwsEnvironment) -> int:
    """How many nodes the pods ask for: one per replica of Connect, which keep apart, or more by their memory."""
    connect = environment.connect
    memory = connect.replicas * connect.memory_mb + connect.registry_replicas * REGISTRY_MB + PREPARATION_MB
    return max(connect.replicas, math.ceil(memory / NODE_USABLE_MB))


def _processing(environment: AwsEnvironment, prices: Prices) -> Iterator[Item]:
    """On EMR Serverless the continuous jobs, which never end; the others cost what they run."""
    processing = environment.processing
    if processing.serverless:
        workers = taken(job.workers for job in processing.layered.values())
        yield Item("vCPU of the jobs on EMR Serverless", workers.vcpus, HOURS * prices.hour("emr_serverless_vcpu"))
        yield Item("GB of their memory", workers.memory_gb, HOURS * prices.hour("emr_serverless_gb"))
        return
    share = 1 + prices.surcharge["emr"]
    core = processing.nodes.minimum
    yield Item(f"EMR primary {processing.primary}", 1, HOURS * share * prices.hour(processing.primary))
    yield Item(f"EMR core {processing.core}", core, HOURS * share * prices.hour(processing.core))
    yield Item("GB of their disks", (1 + core) * EMR_DISK_GB, prices.monthly["ebs_gb"])


def _monitoring(environment: AwsEnvironment, prices: Prices) -> Iterator[Item]:
    """Metrics of MSK are free at their level (DEFAULT)."""
    connect, network = environment.connect, environment.network
    if connect.container_insights:
        pods = connect.replicas + connect.registry_replicas + 1
        measured = round((OF_CLUSTER + OF_NODE * nodes(environment) + OF_POD * pods) * MINUTES / 1e6)
        yield Item("million measurements of Container Insights", measured, prices.monthly["million_measurements"])
    networks = (0 if network.existing else 1) + (1 if network.source_vpc else 0)
    plane = CONTROL_PLANE_GB if connect.kind == "eks" else 0
    logs = plane + PODS_GB + networks * FLOWS_GB
    yield Item("GB of logs, as assumed", logs, prices.monthly["log_gb"])
    yield Item("metric with an alarm", alarms(environment), prices.monthly["alarm"])
    yield Item("dashboard", 1, prices.monthly["dashboard"])


def alarms(environment: AwsEnvironment) -> int:
    """How many metrics have an alarm: AWS counts each metric that an alarm reads."""
    ended = 1 if environment.processing.serverless else 0  # EMR Serverless starts jobs again: no alarm about that
    idle = 1 if environment.processing.idle_minutes else 0  # SilentJob also looks at what the cluster runs
    source = 0 if environment.source.existing else SOURCE_ALARMS
    serverless = environment.streaming.kind == "serverless"
    kafka = 1 if serverless else 1 + BROKER_ALARMS * environment.brokers  # a heartbeat, or partitions and brokers
    pods = POD_ALARMS if environment.connect.container_insights or environment.connect.kind == "msk_connect" else 0
    return ALARMS - ended + idle + source + kafka + pods


def _fees(environment: AwsEnvironment, prices: Prices) -> Iterator[Item]:
    streaming = environment.streaming
    brokers = streaming.kind == "provisioned" and not streaming.existing
    fewer = (0 if brokers else 1) + (1 if environment.processing.serverless else 0)  # no disks of them to encrypt
    managed = 1 if environment.connect.kind == "msk_connect" else 0  # no Kubernetes, and nobody calls Connect
    users = len(streaming.users)  # of Kafka, whose secrets have a key of their own
    yield Item("KMS key", KEYS - fewer - managed + (1 if users else 0), prices.monthly["kms_key"])
    yield Item("secret", SECRETS - managed + users, prices.monthly["secret"])
