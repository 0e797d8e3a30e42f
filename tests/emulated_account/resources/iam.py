"""Roles and policies. They are kept, never enforced."""

import json
from collections.abc import Mapping
from typing import Any

from tests.emulated_account.errors import NotEmulated
from tests.emulated_account.resources.kind import Kind, Made, Properties, Put


class Role(Kind):
    type, service = "AWS::IAM::Role", "iam"

    def create(self, properties: Properties) -> Made:
        name = properties.get("RoleName") or self.place.name()
        texts = {key: properties[key] for key in ("Description", "MaxSessionDuration", "Path") if key in properties}
        tags = [*properties.get("Tags", []), *self.place.tags]
        trust = properties["AssumeRolePolicyDocument"]
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
            trust = properties["AssumeRolePolicyDocument"]
            self.call("update_assume_role_policy", RoleName=made.id, PolicyDocument=trust)
        return self._completed(made.id, properties)

    def _completed(self, id: str, properties: Properties) -> Made:
        self._attach(id, set(properties.get("ManagedPolicyArns", [])))
        for policy in properties.get("Policies", []):
            self.call("put_role_policy", policy, RoleName=id)
        role = self.client.get_role(RoleName=id)["Role"]
        return Made(id, {"Arn": role["Arn"], "RoleId": role["RoleId"]})

    def _attach(self, id: str, wanted: set[str]) -> None:
        found = self.client.list_attached_role_policies(RoleName=id)["AttachedPolicies"]
        # Policies of the stack attach themselves.
        standing = {one["PolicyArn"] for one in found if ":iam::aws:policy/" in one["PolicyArn"]}
        for arn in wanted - standing:
            self.client.attach_role_policy(RoleName=id, PolicyArn=arn)
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
            document = json.dumps(properties["PolicyDocument"])
            self.client.put_role_policy(RoleName=role, PolicyName=properties["PolicyName"], PolicyDocument=document)
        return Made(id, {"Id": id})

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        for role in properties["Roles"]:
            self.client.delete_role_policy(RoleName=role, PolicyName=properties["PolicyName"])


class ManagedPolicy(Kind):
    """A policy beside the roles that it is attached to: what an inline one has no room for."""

    type, service = "AWS::IAM::ManagedPolicy", "iam"

    def create(self, properties: Properties) -> Made:
        name, document = self.place.name(128), json.dumps(properties["PolicyDocument"])
        words = {key: properties.get(key, "") for key in ("Description", "Path")}
        policy = self.client.create_policy(
            PolicyName=name, PolicyDocument=document, Description=words["Description"], Path=words["Path"] or "/"
        )["Policy"]
        for role in properties["Roles"]:
            self.client.attach_role_policy(RoleName=role, PolicyArn=policy["Arn"])
        return Made(policy["Arn"], {"PolicyArn": policy["Arn"]})

    def update(self, made: Made, properties: Properties, before: Mapping[str, Any]) -> Made:
        properties.get("Description"), properties.get("Path")
        document = json.dumps(properties["PolicyDocument"])
        if properties["Roles"] != before["Roles"]:
            raise NotEmulated("a managed policy that moves to other roles")
        old = self.client.get_policy(PolicyArn=made.id)["Policy"]["DefaultVersionId"]
        self.client.create_policy_version(PolicyArn=made.id, PolicyDocument=document, SetAsDefault=True)
        self.client.delete_policy_version(PolicyArn=made.id, VersionId=old)
        return made

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        for role in properties["Roles"]:
            self.client.detach_role_policy(RoleName=role, PolicyArn=made.id)
        self.client.delete_policy(PolicyArn=made.id)


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
