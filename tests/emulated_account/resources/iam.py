"""Roles and policies. They are kept, never enforced; their sizes are IAM's.

Source of the sizes: IAM's user guide, "IAM and AWS STS quotas".
"""

import json
from collections.abc import Mapping
from typing import Any

from tests.emulated_account.errors import Refused
from tests.emulated_account.resources.kind import Kind, Made, Properties, Put
from tests.emulated_account.resources.sizes import size

MANAGED_SIZE = 6_144
INLINE_SIZE = 10_240  # of all policies inside a role together
TRUST_SIZE = 2_048
ATTACHED = 10  # managed policies of a role


class Role(Kind):
    type, service = "AWS::IAM::Role", "iam"

    def create(self, properties: Properties) -> Made:
        name = properties.get("RoleName") or self.place.name()
        texts = {key: properties[key] for key in ("Description", "MaxSessionDuration", "Path") if key in properties}
        tags = [*properties.get("Tags", []), *self.place.tags]
        trust = self._trust(properties)
        check_inline(name, [policy["PolicyDocument"] for policy in properties.get("Policies", [])])
        self.call("create_role", texts, RoleName=name, AssumeRolePolicyDocument=trust, Tags=tags)
        return self._completed(name, properties)

    def update(self, made: Made, properties: Properties, before: Mapping[str, Any]) -> Made:
        """Trust and policies can be changed so far."""
        known = {"AssumeRolePolicyDocument", "ManagedPolicyArns"}
        names = properties.rest().keys() | before.keys()
        changed = {name for name in names if properties.get(name) != before.get(name)}
        if changed - known:
            return super().update(made, properties, before)
        if "AssumeRolePolicyDocument" in changed:
            trust = self._trust(properties)
            self.call("update_assume_role_policy", RoleName=made.id, PolicyDocument=trust)
        return self._completed(made.id, properties)

    def _trust(self, properties: Properties) -> Any:
        check_quota("ACLSizePerRole", size(properties["AssumeRolePolicyDocument"]), TRUST_SIZE)
        return properties["AssumeRolePolicyDocument"]

    def _completed(self, id: str, properties: Properties) -> Made:
        self._attach(id, set(properties.get("ManagedPolicyArns", [])))
        for policy in properties.get("Policies", []):
            put_inline(self.client, id, policy["PolicyName"], policy["PolicyDocument"])
        role = self.client.get_role(RoleName=id)["Role"]
        return Made(id, {"Arn": role["Arn"], "RoleId": role["RoleId"]})

    def _attach(self, id: str, wanted: set[str]) -> None:
        found = self.client.list_attached_role_policies(RoleName=id)["AttachedPolicies"]
        # Policies of the stack attach themselves.
        standing = {one["PolicyArn"] for one in found if ":iam::aws:policy/" in one["PolicyArn"]}
        for arn in wanted - standing:
            attach(self.client, id, arn)
        for arn in standing - wanted:
            self.client.detach_role_policy(RoleName=id, PolicyArn=arn)

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        self._attach(made.id, set())
        for policy in properties.get("Policies", []):
            self.client.delete_role_policy(RoleName=made.id, PolicyName=policy["PolicyName"])
        self.client.delete_role(RoleName=made.id)


class Policy(Put):
    """A policy inside roles."""

    type, service = "AWS::IAM::Policy", "iam"

    def create(self, properties: Properties) -> Made:
        return self.put(self.place.name(), properties)

    def put(self, id: str, properties: Properties) -> Made:
        for role in properties["Roles"]:
            put_inline(self.client, role, properties["PolicyName"], properties["PolicyDocument"])
        return Made(id, {"Id": id})

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        for role in properties["Roles"]:
            self.client.delete_role_policy(RoleName=role, PolicyName=properties["PolicyName"])


class ManagedPolicy(Kind):
    """A policy of its own, attached to roles: the CDK makes one when a role's policies grow too long."""

    type, service = "AWS::IAM::ManagedPolicy", "iam"

    def create(self, properties: Properties) -> Made:
        name, document = properties.get("ManagedPolicyName") or self.place.name(128), properties["PolicyDocument"]
        check_quota("PolicySize", size(document), MANAGED_SIZE)
        texts = {key: properties[key] for key in ("Description", "Path") if key in properties}
        arn = self.call("create_policy", texts, PolicyName=name, PolicyDocument=document)["Policy"]["Arn"]
        for role in properties.get("Roles", []):
            attach(self.client, role, arn)
        return Made(arn, {"PolicyArn": arn})

    def update(self, made: Made, properties: Properties, before: Mapping[str, Any]) -> Made:
        """By a version that becomes the default one; so far for the same roles only."""
        if {**properties, "PolicyDocument": None} != {**before, "PolicyDocument": None}:
            return super().update(made, properties, before)
        properties.rest()
        check_quota("PolicySize", size(properties["PolicyDocument"]), MANAGED_SIZE)
        self._forget_old(made.id)
        document = properties["PolicyDocument"]
        self.call("create_policy_version", PolicyArn=made.id, PolicyDocument=document, SetAsDefault=True)
        return made

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        for role in properties.get("Roles", []):
            self.client.detach_role_policy(RoleName=role, PolicyArn=made.id)
        self._forget_old(made.id)
        self.client.delete_policy(PolicyArn=made.id)

    def _forget_old(self, arn: str) -> None:
        for one in self.client.list_policy_versions(PolicyArn=arn)["Versions"]:
            if not one["IsDefaultVersion"]:
                self.client.delete_policy_version(PolicyArn=arn, VersionId=one["VersionId"])


class InstanceProfile(Kind):
    type, service = "AWS::IAM::InstanceProfile", "iam"

    def create(self, properties: Properties) -> Made:
        name = properties.get("InstanceProfileName") or self.place.name()
        profile = self.client.create_instance_profile(InstanceProfileName=name)["InstanceProfile"]
        for role in properties["Roles"]:
            self.client.add_role_to_instance_profile(InstanceProfileName=name, RoleName=role)
        return Made(name, {"Arn": profile["Arn"]})

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        for role in properties["Roles"]:
            self.client.remove_role_from_instance_profile(InstanceProfileName=made.id, RoleName=role)
        self.client.delete_instance_profile(InstanceProfileName=made.id)


def check_quota(name: str, found: int, most: int) -> None:
    if found > most:
        raise Refused(f"Cannot exceed quota for {name}: {most} (found {found}; HandlerErrorCode: ServiceLimitExceeded)")


def check_inline(role: str, documents: list[Any]) -> None:
    """All policies inside a role share the size."""
    if sum(map(size, documents)) > INLINE_SIZE:
        raise Refused(f"Maximum policy size of {INLINE_SIZE} bytes exceeded for role {role}")


def attach(iam: Any, role: str, arn: str) -> None:
    standing = iam.list_attached_role_policies(RoleName=role)["AttachedPolicies"]
    check_quota("PoliciesPerRole", len({one["PolicyArn"] for one in standing} | {arn}), ATTACHED)
    iam.attach_role_policy(RoleName=role, PolicyArn=arn)


def put_inline(iam: Any, role: str, name: str, document: Any) -> None:
    others = [one for one in iam.list_role_policies(RoleName=role)["PolicyNames"] if one != name]
    documents = [iam.get_role_policy(RoleName=role, PolicyName=one)["PolicyDocument"] for one in others]
    check_inline(role, [document, *documents])
    iam.put_role_policy(RoleName=role, PolicyName=name, PolicyDocument=json.dumps(document))
