"""Calls of KMS that S3 and Secrets Manager make in the name of whoever calls them, for what is under a key of ours."""

from collections.abc import Iterable, Iterator

from iam.roles import REGION, Stacks
from tests.rights.judge import Call

# By the guides of S3 ("Using server-side encryption with KMS keys") and Secrets Manager ("Secret encryption").
# A large object is uploaded in parts, which S3 reads again: both for a write.
NEEDED = {
    "s3:GetObject": ("kms:Decrypt",),
    "s3:PutObject": ("kms:GenerateDataKey", "kms:Decrypt"),
    "secretsmanager:GetSecretValue": ("kms:Decrypt",),
}


def implied(stacks: Stacks, calls: Iterable[Call]) -> Iterator[Call]:
    keys = dict(keys_of(stacks))
    for call in calls:
        owner = call.resource if call.resource in keys else call.resource.partition("/")[0]
        for action in NEEDED.get(call.action, ()) if owner in keys else ():
            via = f"{call.action.partition(':')[0]}.{REGION}.amazonaws.com"
            yield Call(call.role, action, keys[owner], (("kms:ViaService", via),))


def keys_of(stacks: Stacks) -> Iterator[tuple[str, str]]:
    """The keys of buckets and secrets, by their ARNs."""
    for stack, id, properties in stacks.of_type("AWS::S3::Bucket"):
        (rule,) = properties["BucketEncryption"]["ServerSideEncryptionConfiguration"]
        key = rule["ServerSideEncryptionByDefault"].get("KMSMasterKeyID")
        if key:
            yield stacks.resolve(stack, {"Fn::GetAtt": [id, "Arn"]}), stacks.resolve(stack, key)
    for stack, id, properties in stacks.of_type("AWS::SecretsManager::Secret"):
        if "KmsKeyId" in properties:
            yield stacks.resolve(stack, {"Ref": id}), stacks.resolve(stack, properties["KmsKeyId"])
