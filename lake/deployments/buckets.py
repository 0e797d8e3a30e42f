"""Empties buckets, old versions included."""

from typing import Any

from botocore.exceptions import ClientError

from lake.config.errors import LakeError
from lake.config.report import Report
from lake.deployments.account import Account, code

AT_ONCE = 1000  # what one call deletes at most


def empty(account: Account, bucket: str, report: Report) -> int:
    """Deletes all versions and markers, and returns their number. LakeError for the first one that S3 refuses."""
    s3, deleted = account.client("s3"), 0
    try:
        for page in s3.get_paginator("list_object_versions").paginate(Bucket=bucket):
            deleted += _delete(s3, bucket, [*page.get("Versions", []), *page.get("DeleteMarkers", [])])
            report(f"{bucket}: {deleted} object versions deleted") if deleted else None
    except ClientError as error:
        if code(error) != "NoSuchBucket":
            raise
    return deleted


def _delete(s3: Any, bucket: str, found: list[dict[str, Any]]) -> int:
    for begin in range(0, len(found), AT_ONCE):
        objects = [{"Key": one["Key"], "VersionId": one["VersionId"]} for one in found[begin : begin + AT_ONCE]]
        answer = s3.delete_objects(Bucket=bucket, Delete={"Objects": objects, "Quiet": True})
        for refused in answer.get("Errors", []):
            now = "remove what protects it, then run it again"
            raise LakeError(f"not deleted: {refused['Message']}", f"s3://{bucket}/{refused['Key']}", now)
    return len(found)
