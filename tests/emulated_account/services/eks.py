"""EKS as far as the stacks use it: a record of clusters and what belongs to them; nothing of Kubernetes runs."""

import json
from datetime import UTC, datetime
from uuid import uuid4

from tests.emulated_account.clients import ACCOUNT, Clients
from tests.emulated_account.log_writers import LogWriters
from tests.emulated_account.services.service import Answer, Service, refuse

Key = tuple[str, ...]  # region, cluster, and what else names a part of it


class Eks(Service):
    name, signed, whole = "eks", "eks", True

    def __init__(self, clients: Clients, logs: LogWriters) -> None:
        super().__init__(clients)
        self._logs = logs
        self.clusters: dict[Key, Answer] = {}
        self.addons: dict[Key, Answer] = {}
        self.entries: dict[Key, Answer] = {}
        self.policies: dict[Key, list[Answer]] = {}
        self.associations: dict[Key, Answer] = {}

    def create_cluster(self, region: str, wish: Answer) -> Answer:
        name = wish["name"]
        if (region, name) in self.clusters:
            raise refuse("ResourceInUseException", f"Cluster already exists with name: {name}")
        check_auto_mode(wish)
        network = wish["resourcesVpcConfig"]
        group, vpc = self._group(region, name, network["subnetIds"])
        cluster = {**wish, **described(region, name)}
        cluster["resourcesVpcConfig"] = {**network, "clusterSecurityGroupId": group, "vpcId": vpc}
        self.clusters[region, name] = cluster
        if control_plane_logs(cluster):
            self._logs.write(region, f"/aws/eks/{name}/cluster")
        return {"cluster": cluster}

    def _group(self, region: str, name: str, subnets: list[str]) -> tuple[str, str]:
        """EKS makes a security group for nodes and control plane in the network of the cluster."""
        ec2 = self.clients("ec2", region)
        found = ec2.describe_subnets(SubnetIds=subnets)["Subnets"]
        if len({subnet["AvailabilityZone"] for subnet in found}) < 2:
            raise refuse("InvalidParameterException", "Subnets specified must be in at least two different AZs")
        vpc = found[0]["VpcId"]
        made = ec2.create_security_group(GroupName=f"eks-cluster-sg-{name}", Description="EKS", VpcId=vpc)
        return made["GroupId"], vpc

    def describe_cluster(self, region: str, wish: Answer) -> Answer:
        return {"cluster": self._cluster(region, wish["name"])}

    def list_clusters(self, region: str, _: Answer) -> Answer:
        return {"clusters": [name for place, name in self.clusters if place == region]}

    def delete_cluster(self, region: str, wish: Answer) -> Answer:
        cluster = self._cluster(region, wish["name"])
        group = cluster["resourcesVpcConfig"]["clusterSecurityGroupId"]
        self.clients("ec2", region).delete_security_group(GroupId=group)
        del self.clusters[region, wish["name"]]
        if control_plane_logs(cluster):
            self._logs.write_late(region, f"/aws/eks/{wish['name']}/cluster")
        for part in (self.addons, self.entries, self.policies, self.associations):
            for key in [key for key in part if key[:2] == (region, wish["name"])]:
                del part[key]
        return {"cluster": {**cluster, "status": "DELETING"}}

    def _cluster(self, region: str, name: str) -> Answer:
        if (region, name) not in self.clusters:
            raise refuse("ResourceNotFoundException", f"No cluster found for name: {name}.")
        return self.clusters[region, name]

    def create_addon(self, region: str, wish: Answer) -> Answer:
        self._cluster(region, wish["clusterName"])
        key = (region, wish["clusterName"], wish["addonName"])
        if key in self.addons:
            raise refuse("ResourceInUseException", "Addon already exists.")
        for group in container_insights(wish):
            self._logs.write(region, group)
        kept = {name: value for name, value in wish.items() if name != "resolveConflicts"}
        self.addons[key] = {**kept, "status": "ACTIVE", "addonArn": arn(region, "addon", *key[1:], str(uuid4()))}
        return {"addon": self.addons[key]}

    def list_addons(self, region: str, wish: Answer) -> Answer:
        return {"addons": [key[2] for key in self.addons if key[:2] == (region, wish["clusterName"])]}

    def delete_addon(self, region: str, wish: Answer) -> Answer:
        return {"addon": taken(self.addons, (region, wish["clusterName"], wish["addonName"]))}

    def create_access_entry(self, region: str, wish: Answer) -> Answer:
        access = self._cluster(region, wish["clusterName"]).get("accessConfig", {})
        if access.get("authenticationMode") not in ("API", "API_AND_CONFIG_MAP"):
            raise refuse("InvalidRequestException", "The cluster's authentication mode must be API")
        key = (region, wish["clusterName"], wish["principalArn"])
        if key in self.entries:
            raise refuse("ResourceInUseException", "The specified access entry resource is already in use")
        self.entries[key] = {**wish, "accessEntryArn": arn(region, "access-entry", wish["clusterName"], str(uuid4()))}
        self.policies[key] = []
        return {"accessEntry": self.entries[key]}

    def associate_access_policy(self, region: str, wish: Answer) -> Answer:
        key = (region, wish["clusterName"], wish["principalArn"])
        policy = {"policyArn": wish["policyArn"], "accessScope": wish["accessScope"]}
        self.policies[key].append(policy)
        return {"clusterName": key[1], "principalArn": key[2], "associatedAccessPolicy": policy}

    def list_access_entries(self, region: str, wish: Answer) -> Answer:
        return {"accessEntries": [key[2] for key in self.entries if key[:2] == (region, wish["clusterName"])]}

    def list_associated_access_policies(self, region: str, wish: Answer) -> Answer:
        key = (region, wish["clusterName"], wish["principalArn"])
        return {"clusterName": key[1], "principalArn": key[2], "associatedAccessPolicies": self.policies[key]}

    def delete_access_entry(self, region: str, wish: Answer) -> Answer:
        taken(self.entries, (region, wish["clusterName"], wish["principalArn"]))
        return {}

    def create_pod_identity_association(self, region: str, wish: Answer) -> Answer:
        cluster = wish["clusterName"]
        self._cluster(region, cluster)
        account = (wish["namespace"], wish["serviceAccount"])
        standing = [one for key, one in self.associations.items() if key[:2] == (region, cluster)]
        if account in [(one["namespace"], one["serviceAccount"]) for one in standing]:
            raise refuse("ResourceInUseException", f"Association already exists: {account[0]}/{account[1]}")
        id = f"a-{uuid4().hex[:17]}"
        found = arn(region, "podidentityassociation", cluster, id)
        self.associations[region, cluster, id] = {**wish, "associationArn": found, "associationId": id}
        return {"association": self.associations[region, cluster, id]}

    def list_pod_identity_associations(self, region: str, wish: Answer) -> Answer:
        place = (region, wish["clusterName"])
        return {"associations": [one for key, one in self.associations.items() if key[:2] == place]}

    def describe_pod_identity_association(self, region: str, wish: Answer) -> Answer:
        return {"association": self.associations[region, wish["clusterName"], wish["associationId"]]}

    def delete_pod_identity_association(self, region: str, wish: Answer) -> Answer:
        return {"association": taken(self.associations, (region, wish["clusterName"], wish["associationId"]))}


def control_plane_logs(cluster: Answer) -> bool:
    return any(one["enabled"] for one in cluster.get("logging", {}).get("clusterLogging", []))


def container_insights(addon: Answer) -> list[str]:
    """The log groups that the agents of the CloudWatch add-on make, as far as its configuration lets them."""
    if addon["addonName"] != "amazon-cloudwatch-observability":
        return []
    settings = json.loads(addon.get("configurationValues", "{}"))
    names = ["application", "dataplane", "host"] if settings.get("containerLogs", {}).get("enabled", True) else []
    measured = ["performance"] if settings.get("containerInsights", {}).get("enabled", True) else []
    return [f"/aws/containerinsights/{addon['clusterName']}/{name}" for name in (*names, *measured)]


def check_auto_mode(wish: Answer) -> None:
    """Compute, storage and load balancing are AWS's together or not at all."""
    flags = {
        wish.get("computeConfig", {}).get("enabled", False),
        wish.get("storageConfig", {}).get("blockStorage", {}).get("enabled", False),
        wish.get("kubernetesNetworkConfig", {}).get("elasticLoadBalancing", {}).get("enabled", False),
    }
    if len(flags) > 1:
        raise refuse("InvalidParameterException", "For EKS Auto Mode, please ensure that all required configs are set")


def described(region: str, name: str) -> Answer:
    """What EKS adds to what was wished."""
    id = uuid4().hex.upper()
    return {
        "arn": arn(region, "cluster", name),
        "status": "ACTIVE",
        "createdAt": datetime.now(UTC),
        "endpoint": f"https://{id}.gr7.{region}.eks.amazonaws.com",
        "certificateAuthority": {"data": "ZW11bGF0ZWQ="},
        "identity": {"oidc": {"issuer": f"https://oidc.eks.{region}.amazonaws.com/id/{id}"}},
    }


def arn(region: str, *parts: str) -> str:
    return f"arn:aws:eks:{region}:{ACCOUNT}:{'/'.join(parts)}"


def taken(store: dict[Key, Answer], key: Key) -> Answer:
    if key not in store:
        raise refuse("ResourceNotFoundException", f"nothing is named {'/'.join(key[1:])}")
    return store.pop(key)
