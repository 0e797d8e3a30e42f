"""The roles of synthesized stacks and their policies, with the names and ARNs that an account could have given.

    python -m iam.roles <folder of templates> <account.json>

account.json is what judge.mjs reads. Names are made of stack and logical id, so that two syntheses give the same.
"""

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from iam.errors import NotEmulated, Refused
from iam.resolver import Resolver, Scope

ACCOUNT, REGION = "123456789012", "eu-central-1"
HASH = re.compile(r"[0-9A-F]{8}$")  # the CDK's, at the end of a logical id
# How AWS writes the ARNs of these. Whatever else policies name must be added.
ARNS = {
    "AWS::IAM::Role": "arn:aws:iam::{account}:role/{id}",
    "AWS::KMS::Key": "arn:aws:kms:{region}:{account}:key/{id}",
    "AWS::Lambda::Function": "arn:aws:lambda:{region}:{account}:function:{id}",
    "AWS::Logs::LogGroup": "arn:aws:logs:{region}:{account}:log-group:{id}:*",
    "AWS::MSK::Cluster": "arn:aws:kafka:{region}:{account}:cluster/{id}/0-1",
    "AWS::MSK::ServerlessCluster": "arn:aws:kafka:{region}:{account}:cluster/{id}/0-s1",
    "AWS::ECS::Cluster": "arn:aws:ecs:{region}:{account}:cluster/{id}",
    "AWS::ECS::TaskDefinition": "arn:aws:ecs:{region}:{account}:task-definition/{id}:1",
    "AWS::EKS::Cluster": "arn:aws:eks:{region}:{account}:cluster/{id}",
    "AWS::S3::Bucket": "arn:aws:s3:::{id}",
    "AWS::SNS::Topic": "arn:aws:sns:{region}:{account}:{id}",
    "AWS::SecretsManager::Secret": "arn:aws:secretsmanager:{region}:{account}:secret:{id}-abcdef",
}
# Attributes of which not any text will do.
ATTRIBUTES = {
    "BootstrapBrokerStringSaslIam": "b-1.{id}:9098",
    "BootstrapBrokerStringSaslScram": "b-1.{id}:9096",
    "Endpoint.Port": "5432",
}
REF_IS_ARN = (
    *("AWS::MSK::Cluster", "AWS::MSK::ServerlessCluster", "AWS::SNS::Topic", "AWS::SecretsManager::Secret"),
    "AWS::ECS::TaskDefinition",
)
ATTACHMENT = "AWS::SecretsManager::SecretTargetAttachment"
KAFKA = ("AWS::MSK::Cluster", "AWS::MSK::ServerlessCluster")
NAMES = ("RoleName", "ClusterName", "BucketName", "Name")  # of resources whose name is chosen
Json = dict[str, Any]


@dataclass
class Role:
    """Policies by name. managed: ARNs of AWS's own, whose text no template has."""

    arn: str
    policies: Json = field(default_factory=dict)
    boundary: Json = field(default_factory=dict)
    managed: list[str] = field(default_factory=list)


@dataclass
class Account:
    """Roles by logical id without its hash; resources: policies of buckets, keys and secrets by their ARNs.

    A role has its stack before its name where several stacks have one of that name: lake-dev-connect/AWS679ServiceRole.
    """

    id: str = ACCOUNT
    cluster: str = ""  # the ARN of the Kafka cluster
    roles: dict[str, Role] = field(default_factory=dict)
    resources: Json = field(default_factory=dict)

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self), indent=1))


class Stacks:
    """Templates by the names of their stacks; every value of them can be resolved."""

    def __init__(self, templates: Mapping[str, Json]) -> None:
        self.templates = templates
        self._exports = {
            output["Export"]["Name"]: (stack, output["Value"])
            for stack, template in templates.items()
            for output in template.get("Outputs", {}).values()
            if "Export" in output
        }
        self._resolvers = {stack: Resolver(self._scope(stack)) for stack in templates}

    def resolve(self, stack: str, value: Any) -> Any:
        return self._resolvers[stack](value)

    def of_type(self, *types: str) -> Iterator[tuple[str, str, Json]]:
        """Stack, logical id and properties, which are not resolved yet."""
        for stack, template in self.templates.items():
            for id, resource in template["Resources"].items():
                if resource["Type"] in types:
                    yield stack, id, resource.get("Properties", {})

    def ids(self, *types: str) -> list[str]:
        """The physical ids of the resources of these types."""
        return [self.resolve(stack, {"Ref": id}) for stack, id, _ in self.of_type(*types)]

    def exported(self, name: str) -> Any:
        if name not in self._exports:
            raise Refused(f"No export named {name} found.")
        return self.resolve(*self._exports[name])

    def _scope(self, stack: str) -> Scope:
        template = self.templates[stack]
        resources = {id: _Resource(stack, id, one) for id, one in template["Resources"].items()}
        ids = {id: one.ref for id, one in resources.items()}
        # A secret that was attached to a database is still that secret.
        attached = {id: one for id, one in template["Resources"].items() if one["Type"] == ATTACHMENT}
        ids |= {id: ids[one["Properties"]["SecretId"]["Ref"]] for id, one in attached.items()}
        return Scope(
            conditions=template.get("Conditions", {}),
            mappings=template.get("Mappings", {}),
            types={id: one["Type"] for id, one in template["Resources"].items()},
            parameters={name: one.get("Default", "") for name, one in template.get("Parameters", {}).items()},
            pseudo={
                "AWS::AccountId": ACCOUNT,
                "AWS::Partition": "aws",
                "AWS::Region": REGION,
                "AWS::StackName": stack,
                "AWS::URLSuffix": "amazonaws.com",
            },
            zones=[f"{REGION}{letter}" for letter in "abc"],
            exports=self.exported,
            ids=ids,
            attributes=dict(resources),
        )


class _Resource(Mapping[str, Any]):
    """What a template may ask of a resource: attributes by name."""

    def __init__(self, stack: str, id: str, declared: Json) -> None:
        self._type = declared["Type"]
        properties = declared.get("Properties", {})
        chosen = [properties[name] for name in NAMES if isinstance(properties.get(name), str)]
        self._id = chosen[0] if chosen else f"{stack}-{id}".lower()

    @property
    def ref(self) -> str:
        return str(self["Arn"]) if self._type in REF_IS_ARN else self._id

    def __getitem__(self, name: str) -> Any:
        if name not in ("Arn", "ClusterArn"):
            return ATTRIBUTES.get(name, f"{{id}}.{name}").format(id=self._id)
        if self._type not in ARNS:
            raise NotEmulated(f"the ARN of {self._type}; add it to ARNS in iam/roles.py")
        return ARNS[self._type].format(account=ACCOUNT, region=REGION, id=self._id)

    def __contains__(self, name: object) -> bool:
        return True

    def __iter__(self) -> Iterator[str]:
        raise NotEmulated(f"all attributes of {self._type}")

    def __len__(self) -> int:
        raise NotEmulated(f"all attributes of {self._type}")


def read(folder: Path) -> Stacks:
    """The templates that `cdk synth` wrote."""
    paths = sorted(folder.glob("*.template.json"))
    return Stacks({path.name.partition(".")[0]: json.loads(path.read_text()) for path in paths})


def account(stacks: Stacks) -> Account:
    """All roles with their policies, and the policies of resources."""
    found, by_name = Account(), {}
    names = Counter(HASH.sub("", id) for _, id, _ in stacks.of_type("AWS::IAM::Role"))
    for stack, id, properties in stacks.of_type("AWS::IAM::Role"):
        key, resolve = HASH.sub("", id), _resolver(stacks, stack)
        key = key if names[key] == 1 else f"{stack}/{key}"
        found.roles[key] = role = Role(resolve({"Fn::GetAtt": [id, "Arn"]}))
        role.policies = {one["PolicyName"]: one["PolicyDocument"] for one in resolve(properties.get("Policies", []))}
        role.managed = resolve(properties.get("ManagedPolicyArns", []))
        by_name[resolve({"Ref": id})] = role
    for stack, id, properties in stacks.of_type("AWS::IAM::Policy", "AWS::IAM::ManagedPolicy"):
        resolve = _resolver(stacks, stack)
        for name in resolve(properties.get("Roles", [])):
            by_name[name].policies[id] = resolve(properties["PolicyDocument"])
    for stack, id, _ in stacks.of_type(*KAFKA):
        found.cluster = stacks.resolve(stack, {"Fn::GetAtt": [id, "Arn"]})
    found.resources = dict(_resource_policies(stacks))
    return found


def _resolver(stacks: Stacks, stack: str) -> Any:
    return lambda value: stacks.resolve(stack, value)


def _resource_policies(stacks: Stacks) -> Iterator[tuple[str, Json]]:
    for stack, id, properties in stacks.of_type("AWS::KMS::Key"):
        yield stacks.resolve(stack, {"Fn::GetAtt": [id, "Arn"]}), stacks.resolve(stack, properties["KeyPolicy"])
    for stack, _, properties in stacks.of_type("AWS::S3::BucketPolicy"):
        name, policy = stacks.resolve(stack, [properties["Bucket"], properties["PolicyDocument"]])
        yield f"arn:aws:s3:::{name}", policy
    for stack, _, properties in stacks.of_type("AWS::SecretsManager::ResourcePolicy"):
        arn, policy = stacks.resolve(stack, [properties["SecretId"], properties["ResourcePolicy"]])
        yield arn, policy


def main(arguments: list[str]) -> int:
    folder, path = map(Path, arguments)
    account(read(folder)).write(path)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
