"""Buckets and their policies."""

from collections.abc import Callable, Mapping
from typing import Any

from tests.emulated_account.errors import NotEmulated
from tests.emulated_account.resources.kind import Made, Properties, Put
from tests.emulated_account.resources.sizes import check_size, size


class Bucket(Put):
    type, service = "AWS::S3::Bucket", "s3"

    def create(self, properties: Properties) -> Made:
        name = properties.get("BucketName") or self.place.name(63, lower=True)
        home = {"CreateBucketConfiguration": {"LocationConstraint": self.place.region}}
        self.call("create_bucket", {} if self.place.region == "us-east-1" else home, Bucket=name)
        return self.put(name, properties)

    def put(self, id: str, properties: Properties) -> Made:
        setters: dict[str, Callable[[str, Any], None]] = {
            "BucketEncryption": self._encryption,
            "LifecycleConfiguration": self._lifecycle,
            "LoggingConfiguration": self._logging,
            "OwnershipControls": self._ownership,
            "PublicAccessBlockConfiguration": self._access,
            "VersioningConfiguration": self._versioning,
        }
        for name in setters.keys() & properties.keys():
            setters[name](id, properties[name])
        if properties.get("AccessControl", "Private") != "Private":
            raise NotEmulated("a bucket that is not private")
        tags = [*properties.get("Tags", []), *self.place.tags]
        if tags:
            self.client.put_bucket_tagging(Bucket=id, Tagging={"TagSet": tags})
        assert "BucketName" not in properties or properties["BucketName"] == id
        return Made(id, attributes(id, self.place.region))

    def _encryption(self, id: str, value: Any) -> None:
        rules = [
            {
                "ApplyServerSideEncryptionByDefault": one["ServerSideEncryptionByDefault"],
                "BucketKeyEnabled": one.get("BucketKeyEnabled", False),
            }
            for one in value["ServerSideEncryptionConfiguration"]
        ]
        self.call("put_bucket_encryption", Bucket=id, ServerSideEncryptionConfiguration={"Rules": rules})

    def _lifecycle(self, id: str, value: Any) -> None:
        rules = [lifecycle_rule(number, rule) for number, rule in enumerate(value["Rules"])]
        self.call("put_bucket_lifecycle_configuration", Bucket=id, LifecycleConfiguration={"Rules": rules})

    def _logging(self, id: str, value: Any) -> None:
        target = {"TargetBucket": value["DestinationBucketName"], "TargetPrefix": value.get("LogFilePrefix", "")}
        self.call("put_bucket_logging", Bucket=id, BucketLoggingStatus={"LoggingEnabled": target})

    def _ownership(self, id: str, value: Any) -> None:
        self.call("put_bucket_ownership_controls", Bucket=id, OwnershipControls=value)

    def _access(self, id: str, value: Any) -> None:
        self.call("put_public_access_block", Bucket=id, PublicAccessBlockConfiguration=value)

    def _versioning(self, id: str, value: Any) -> None:
        self.call("put_bucket_versioning", Bucket=id, VersioningConfiguration=value)

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        self.client.delete_bucket(Bucket=made.id)  # refused when it is not empty


def attributes(name: str, region: str) -> dict[str, str]:
    return {
        "Arn": f"arn:aws:s3:::{name}",
        "DomainName": f"{name}.s3.amazonaws.com",
        "RegionalDomainName": f"{name}.s3.{region}.amazonaws.com",
    }


def lifecycle_rule(number: int, rule: Mapping[str, Any]) -> dict[str, Any]:
    """A rule of a template as the API takes it."""
    made: dict[str, Any] = {"ID": rule.get("Id", str(number)), "Status": rule["Status"]}
    made["Filter"] = {"Prefix": rule.get("Prefix", "")}
    expiration = {"Days": rule.get("ExpirationInDays"), "ExpiredObjectDeleteMarker": rule.get(MARKER)}
    made["Expiration"] = {name: value for name, value in expiration.items() if value is not None}
    made["AbortIncompleteMultipartUpload"] = rule.get("AbortIncompleteMultipartUpload")
    made["NoncurrentVersionExpiration"] = rule.get("NoncurrentVersionExpiration")
    unknown = set(rule) - {"Id", "Status", "Prefix", "ExpirationInDays", MARKER, *made}
    if unknown:
        raise NotEmulated(f"{sorted(unknown)[0]} in a lifecycle rule")
    return {name: value for name, value in made.items() if value}


MARKER = "ExpiredObjectDeleteMarker"
POLICY_SIZE = 20 * 1024


class BucketPolicy(Put):
    type, service = "AWS::S3::BucketPolicy", "s3"

    def create(self, properties: Properties) -> Made:
        return self.put("", properties)

    def put(self, id: str, properties: Properties) -> Made:
        bucket = properties["Bucket"]
        check_size("The bucket policy", size(properties["PolicyDocument"]), POLICY_SIZE)
        self.call("put_bucket_policy", Bucket=bucket, Policy=properties["PolicyDocument"])
        return Made(bucket)

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        self.client.delete_bucket_policy(Bucket=made.id)
