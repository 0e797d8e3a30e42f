"""MSK as far as the stacks use it: a record of clusters, and the addresses they would have; no broker runs."""

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from tests.emulated_account.clients import ACCOUNT
from tests.emulated_account.services.service import Answer, Service, refuse

IAM_PORT, SCRAM_PORT = 9098, 9096
OF_SCRAM = "AmazonMSK_"  # guide of MSK, "Sign-in credentials authentication with AWS Secrets Manager"
SHOWN = 3  # brokers that MSK names to begin with


class Kafka(Service):
    name, signed, whole = "kafka", "kafka", True

    def __init__(self, clients: Any) -> None:
        super().__init__(clients)
        self.clusters: dict[str, Answer] = {}  # by ARN
        self.configurations: dict[str, list[Answer]] = {}  # by ARN: all revisions

    def create_configuration(self, region: str, wish: Answer) -> Answer:
        name = wish["Name"]
        if any(f":configuration/{name}/" in arn and f":{region}:" in arn for arn in self.configurations):
            raise refuse("ConflictException", f"A resource with this name already exists: {name}")
        arn = f"arn:aws:kafka:{region}:{ACCOUNT}:configuration/{name}/{uuid4()}-1"
        self.configurations[arn] = [revision(1, wish)]
        return {"Arn": arn, "Name": name, "State": "ACTIVE", "LatestRevision": self.configurations[arn][-1]}

    def update_configuration(self, _: str, wish: Answer) -> Answer:
        revisions = self._configuration(wish["Arn"])
        revisions.append(revision(len(revisions) + 1, wish))
        return {"Arn": wish["Arn"], "LatestRevision": revisions[-1]}

    def describe_configuration_revision(self, _: str, wish: Answer) -> Answer:
        found = self._configuration(wish["Arn"])[int(wish["Revision"]) - 1]
        return {"Arn": wish["Arn"], **found}

    def list_configurations(self, region: str, _: Answer) -> Answer:
        found = {arn: one[-1] for arn, one in self.configurations.items() if f":{region}:" in arn}
        return {"Configurations": [{"Arn": arn, "LatestRevision": one} for arn, one in found.items()]}

    def delete_configuration(self, _: str, wish: Answer) -> Answer:
        self._configuration(wish["Arn"])
        users = [one for one in self.clusters.values() if configuration_of(one).get("Arn") == wish["Arn"]]
        if users:
            raise refuse("BadRequestException", "The configuration is in use by a cluster.")
        del self.configurations[wish["Arn"]]
        return {"Arn": wish["Arn"], "State": "DELETING"}

    def _configuration(self, arn: str) -> list[Answer]:
        if arn not in self.configurations:
            raise refuse("NotFoundException", f"The configuration ARN {arn} does not exist")
        return self.configurations[arn]

    def create_cluster(self, region: str, wish: Answer) -> Answer:
        nodes, subnets = wish["NumberOfBrokerNodes"], wish["BrokerNodeGroupInfo"]["ClientSubnets"]
        if nodes % len(subnets):
            raise refuse("BadRequestException", "The number of broker nodes must be a multiple of Availability Zones")
        self._network(region, subnets, wish["BrokerNodeGroupInfo"].get("SecurityGroups", []))
        self._check_configuration(wish.get("ConfigurationInfo"))
        return self._made(region, wish, {"Provisioned": {**wish, "kind": "PROVISIONED"}})

    def create_cluster_v2(self, region: str, wish: Answer) -> Answer:
        if "Serverless" not in wish:
            raise refuse("BadRequestException", "Only serverless clusters are emulated by CreateClusterV2")
        for place in wish["Serverless"]["VpcConfigs"]:
            self._network(region, place["SubnetIds"], place.get("SecurityGroupIds", []))
        return self._made(region, wish, {"Serverless": wish["Serverless"]})

    def _made(self, region: str, wish: Answer, kind: Answer) -> Answer:
        name = wish["ClusterName"]
        if any(f":{region}:" in arn and one["ClusterName"] == name for arn, one in self.clusters.items()):
            raise refuse("ConflictException", f"This cluster name already exists: {name}")
        arn = f"arn:aws:kafka:{region}:{ACCOUNT}:cluster/{name}/{uuid4()}-1"
        shared = {"ClusterArn": arn, "ClusterName": name, "State": "ACTIVE", "CurrentVersion": uuid4().hex[:14].upper()}
        time = {"CreationTime": datetime.now(UTC), "Tags": wish.get("Tags", {})}
        self.clusters[arn] = {**shared, **time, "ClusterType": next(iter(kind)).upper(), **kind}
        return {"ClusterArn": arn, "ClusterName": name, "State": "ACTIVE"}

    def _network(self, region: str, subnets: list[str], groups: list[str]) -> None:
        ec2 = self.clients("ec2", region)
        ec2.describe_subnets(SubnetIds=subnets)
        ec2.describe_security_groups(GroupIds=groups)

    def _check_configuration(self, wish: Answer | None) -> None:
        if wish and int(wish["Revision"]) > len(self._configuration(wish["Arn"])):
            raise refuse("BadRequestException", f"revision {wish['Revision']} does not exist")

    def describe_cluster(self, _: str, wish: Answer) -> Answer:
        cluster = self._cluster(wish["ClusterArn"])
        provisioned = cluster.get("Provisioned", {})
        shown = {name: value for name, value in provisioned.items() if name not in ("KafkaVersion", "kind")}
        return {"ClusterInfo": {**shown, **cluster, "CurrentBrokerSoftwareInfo": software(provisioned)}}

    def describe_cluster_v2(self, _: str, wish: Answer) -> Answer:
        cluster = self._cluster(wish["ClusterArn"])
        provisioned = cluster.get("Provisioned")
        more = {"CurrentBrokerSoftwareInfo": software(provisioned)} if provisioned else {}
        kind = {"Provisioned": {**provisioned, **more}} if provisioned else {}
        return {"ClusterInfo": {**cluster, **kind}}

    def list_clusters_v2(self, region: str, _: Answer) -> Answer:
        return {"ClusterInfoList": [one for arn, one in self.clusters.items() if f":{region}:" in arn]}

    def get_bootstrap_brokers(self, region: str, wish: Answer) -> Answer:
        cluster = self._cluster(wish["ClusterArn"])
        id = wish["ClusterArn"].rpartition("/")[2][:8]
        if "Serverless" in cluster:
            hosts = [f"boot-{id}.c2.kafka-serverless.{region}.amazonaws.com"]
        else:
            name, count = cluster["ClusterName"].replace("-", ""), cluster["Provisioned"]["NumberOfBrokerNodes"]
            numbers = range(1, min(SHOWN, count) + 1)
            hosts = [f"b-{number}.{name}.{id}.c2.kafka.{region}.amazonaws.com" for number in numbers]
        ports = {"BootstrapBrokerStringSaslIam": IAM_PORT}
        if takes_passwords(cluster):
            ports["BootstrapBrokerStringSaslScram"] = SCRAM_PORT
        return {name: ",".join(f"{host}:{port}" for host in hosts) for name, port in ports.items()}

    def batch_associate_scram_secret(self, region: str, wish: Answer) -> Answer:
        cluster = self._cluster(wish["ClusterArn"])
        if not takes_passwords(cluster):
            raise refuse("BadRequestException", "SASL/SCRAM is not enabled on this cluster")
        for arn in wish["SecretArnList"]:
            secret = self.clients("secretsmanager", region).describe_secret(SecretId=arn)
            if not secret["Name"].startswith(OF_SCRAM) or "KmsKeyId" not in secret:
                raise refuse("BadRequestException", f"{secret['Name']} has another prefix, or the default key")
        cluster["ScramSecrets"] = sorted({*cluster.get("ScramSecrets", []), *wish["SecretArnList"]})
        return {"ClusterArn": wish["ClusterArn"], "UnprocessedScramSecrets": []}

    def batch_disassociate_scram_secret(self, _: str, wish: Answer) -> Answer:
        cluster = self._cluster(wish["ClusterArn"])
        cluster["ScramSecrets"] = [one for one in cluster["ScramSecrets"] if one not in wish["SecretArnList"]]
        return {"ClusterArn": wish["ClusterArn"], "UnprocessedScramSecrets": []}

    def list_scram_secrets(self, _: str, wish: Answer) -> Answer:
        return {"SecretArnList": self._cluster(wish["ClusterArn"]).get("ScramSecrets", [])}

    def update_cluster_configuration(self, _: str, wish: Answer) -> Answer:
        cluster = self._current(wish)
        self._check_configuration(wish["ConfigurationInfo"])
        cluster["Provisioned"]["ConfigurationInfo"] = wish["ConfigurationInfo"]
        cluster["CurrentVersion"] = uuid4().hex[:14].upper()
        return {"ClusterArn": wish["ClusterArn"]}

    def update_cluster_kafka_version(self, _: str, wish: Answer) -> Answer:
        cluster = self._current(wish)
        target, configuration = wish["TargetKafkaVersion"], configuration_of(cluster)
        made_for = self._configuration(configuration["Arn"])[0]["KafkaVersions"] if configuration else []
        if made_for and target not in made_for:
            raise refuse("BadRequestException", f"The configuration is not for Apache Kafka version {target}")
        cluster["Provisioned"]["KafkaVersion"] = target
        cluster["CurrentVersion"] = uuid4().hex[:14].upper()
        return {"ClusterArn": wish["ClusterArn"]}

    def _current(self, wish: Answer) -> Answer:
        """The cluster, if the caller has seen it as it is."""
        cluster = self._cluster(wish["ClusterArn"])
        if wish["CurrentVersion"] != cluster["CurrentVersion"]:
            raise refuse("BadRequestException", "The cluster has another version by now")
        return cluster

    def delete_cluster(self, _: str, wish: Answer) -> Answer:
        self._cluster(wish["ClusterArn"])
        del self.clusters[wish["ClusterArn"]]
        return {"ClusterArn": wish["ClusterArn"], "State": "DELETING"}

    def _cluster(self, arn: str) -> Answer:
        if arn not in self.clusters:
            raise refuse("NotFoundException", f"The cluster ARN {arn} does not exist")
        return self.clusters[arn]


def revision(number: int, wish: Answer) -> Answer:
    times = {"Revision": number, "CreationTime": datetime.now(UTC)}
    return {**times, "ServerProperties": wish["ServerProperties"], "KafkaVersions": wish.get("KafkaVersions", [])}


def takes_passwords(cluster: Answer) -> bool:
    login = cluster.get("Provisioned", {}).get("ClientAuthentication", {})
    return bool(login.get("Sasl", {}).get("Scram", {}).get("Enabled"))


def configuration_of(cluster: Answer) -> Answer:
    return dict(cluster.get("Provisioned", {}).get("ConfigurationInfo", {}))


def software(provisioned: Answer) -> Answer:
    """What runs on the brokers."""
    info = provisioned.get("ConfigurationInfo", {})
    names = {"ConfigurationArn": info.get("Arn"), "ConfigurationRevision": info.get("Revision")}
    return {"KafkaVersion": provisioned.get("KafkaVersion"), **names}
