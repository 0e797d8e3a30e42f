"""A private S3 bucket, and the statements that allow a role to use a part of it."""

from collections.abc import Sequence

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

KEY = "s3:x-amz-server-side-encryption-aws-kms-key-id"
# Deletes parts of broken uploads, and versions that were replaced.
TIDY = s3.LifecycleRule(
    abort_incomplete_multipart_upload_after=Duration.days(1),
    noncurrent_version_expiration=Duration.days(7),
    expired_object_delete_marker=True,
)
WRITE = ["s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload"]


class PrivateBucket(s3.Bucket):
    """TLS only, private, versioned, and encrypted: with the given key, or with S3's own if no key is possible."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        removal_policy: RemovalPolicy,
        key: kms.IKey | None = None,
        access_logs: s3.IBucket | None = None,
        rules: Sequence[s3.LifecycleRule] = (),
    ) -> None:
        super().__init__(
            scope,
            id,
            encryption=s3.BucketEncryption.KMS if key else s3.BucketEncryption.S3_MANAGED,
            encryption_key=key,
            bucket_key_enabled=bool(key),
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            enforce_ssl=True,
            minimum_tls_version=1.2,
            versioned=True,
            lifecycle_rules=[TIDY, *rules],
            server_access_logs_bucket=access_logs,
            server_access_logs_prefix=f"s3/{id.lower()}/" if access_logs else None,
            removal_policy=removal_policy,
            auto_delete_objects=removal_policy is RemovalPolicy.DESTROY,
        )
        if key:
            other = {"StringNotEqualsIfExists": {KEY: key.key_arn}, "Null": {KEY: "false"}}
            self.add_to_resource_policy(
                iam.PolicyStatement(
                    effect=iam.Effect.DENY,
                    principals=[iam.AnyPrincipal()],
                    actions=["s3:PutObject"],
                    resources=[self.arn_for_objects("*")],
                    conditions=other,
                )
            )


def write_objects(bucket: s3.IBucket, *prefixes: str) -> list[iam.PolicyStatement]:
    """Read, write and delete objects below the prefixes."""
    listing = ["s3:ListBucket", "s3:GetBucketLocation"]
    return [
        iam.PolicyStatement(actions=listing, resources=[bucket.bucket_arn]),
        write_below(bucket, *prefixes),
    ]


def write_below(bucket: s3.IBucket, *prefixes: str) -> iam.PolicyStatement:
    """The same, in a bucket that the role can list already."""
    return iam.PolicyStatement(actions=WRITE, resources=[bucket.arn_for_objects(f"{prefix}/*") for prefix in prefixes])


def read_objects(bucket: s3.IBucket, prefix: str) -> iam.PolicyStatement:
    """Read the objects below the prefix; the bucket can be listed already."""
    return iam.PolicyStatement(actions=["s3:GetObject"], resources=[bucket.arn_for_objects(f"{prefix}/*")])


def answer_requests(bucket: s3.IBucket, prefix: str) -> list[iam.PolicyStatement]:
    """Read and delete requests below <prefix>/requests/, and write answers below <prefix>/answers/."""
    requests, listed = f"{prefix}/requests/*", {"StringLike": {"s3:prefix": f"{prefix}/requests/*"}}
    return [
        iam.PolicyStatement(actions=["s3:ListBucket"], resources=[bucket.bucket_arn], conditions=listed),
        iam.PolicyStatement(actions=["s3:GetObject", "s3:DeleteObject"], resources=[bucket.arn_for_objects(requests)]),
        iam.PolicyStatement(actions=["s3:PutObject"], resources=[bucket.arn_for_objects(f"{prefix}/answers/*")]),
    ]
