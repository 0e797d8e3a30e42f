"""Kubernetes as a service."""

from collections.abc import Mapping
from typing import Any

from tests.emulated_account.resources.kind import Kind, Made, Properties


class Cluster(Kind):
    type, service = "AWS::EKS::Cluster", "eks"

    def create(self, properties: Properties) -> Made:
        wish = properties.rest()
        wish["Logging"] = _logging(wish.get("Logging", {}))
        name = wish.setdefault("Name", self.place.name(100))
        self.call("create_cluster", wish)
        cluster = self.client.describe_cluster(name=name)["cluster"]
        return Made(name, _attributes(cluster))

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        self.client.delete_cluster(name=made.id)


def _attributes(cluster: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "Arn": cluster["arn"],
        "Endpoint": cluster["endpoint"],
        "CertificateAuthorityData": cluster["certificateAuthority"]["data"],
        "ClusterSecurityGroupId": cluster["resourcesVpcConfig"]["clusterSecurityGroupId"],
        "OpenIdConnectIssuerUrl": cluster["identity"]["oidc"]["issuer"],
    }


def _logging(value: Mapping[str, Any]) -> dict[str, Any]:
    """The template lists what is on, the API what is on or off."""
    types = [one["Type"] for one in value.get("ClusterLogging", {}).get("EnabledTypes", [])]
    return {"ClusterLogging": [{"Types": types, "Enabled": True}]} if types else {}


class Addon(Kind):
    type, service = "AWS::EKS::Addon", "eks"

    def create(self, properties: Properties) -> Made:
        addon = self.call("create_addon", properties.rest())["addon"]
        return Made(f"{addon['clusterName']}|{addon['addonName']}", {"Arn": addon["addonArn"]})

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        cluster, _, name = made.id.partition("|")
        self.client.delete_addon(clusterName=cluster, addonName=name)


class AccessEntry(Kind):
    type, service = "AWS::EKS::AccessEntry", "eks"

    def create(self, properties: Properties) -> Made:
        policies = properties.get("AccessPolicies", [])
        entry = self.call("create_access_entry", properties.rest())["accessEntry"]
        place = {"clusterName": entry["clusterName"], "principalArn": entry["principalArn"]}
        for policy in policies:
            self.call("associate_access_policy", policy, **place)
        return Made(f"{entry['principalArn']}|{entry['clusterName']}", {"AccessEntryArn": entry["accessEntryArn"]})

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        principal, _, cluster = made.id.rpartition("|")
        self.client.delete_access_entry(clusterName=cluster, principalArn=principal)


class PodIdentityAssociation(Kind):
    type, service = "AWS::EKS::PodIdentityAssociation", "eks"

    def create(self, properties: Properties) -> Made:
        found = self.call("create_pod_identity_association", properties.rest())["association"]
        names = {"AssociationArn": found["associationArn"], "AssociationId": found["associationId"]}
        return Made(found["associationArn"], names)

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        id = made.attributes["AssociationId"]
        self.client.delete_pod_identity_association(clusterName=properties["ClusterName"], associationId=id)
