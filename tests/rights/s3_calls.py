"""What a request to S3 needs: the action that S3 checks, as its documentation lists them."""

from collections.abc import Mapping

from tests.rights.judge import Call

BUCKET = {"location": "s3:GetBucketLocation", "uploads": "s3:ListBucketMultipartUploads"}


def of(role: str, method: str, bucket: str, key: str, query: Mapping[str, str], *, missing: bool = False) -> list[Call]:
    """The calls of one request; missing: there is no such object, which S3 says only to those who may list."""
    arn = f"arn:aws:s3:::{bucket}"
    if not key:
        return [_of_bucket(role, arn, query)]
    found = [Call(role, _of_object(method, query), f"{arn}/{key}")]
    return [*found, Call(role, "s3:ListBucket", arn)] if missing else found


def _of_object(method: str, query: Mapping[str, str]) -> str:
    if method in ("GET", "HEAD"):
        return "s3:GetObject"
    if method == "DELETE":
        return "s3:AbortMultipartUpload" if "uploadId" in query else "s3:DeleteObject"
    return "s3:PutObject"


def _of_bucket(role: str, arn: str, query: Mapping[str, str]) -> Call:
    for name, action in BUCKET.items():
        if name in query:
            return Call(role, action, arn)
    prefix = query.get("prefix")
    return Call(role, "s3:ListBucket", arn, (("s3:prefix", prefix),) if prefix is not None else ())
