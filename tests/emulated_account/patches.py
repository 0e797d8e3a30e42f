"""What is changed inside moto: its buckets, and where EMR is. test_contract.py holds moto to what is assumed here."""

import json
from typing import Any

from moto.core.responses import BaseResponse
from moto.emr.responses import ElasticMapReduceResponse
from moto.iam.access_control import IAMPolicy, PermissionResult
from moto.s3.models import FakeBucket, S3Backend


def apply() -> None:
    FakeBucket.get_permission = permission
    FakeBucket._log_permissions_enabled_policy = may_be_logged_to
    S3Backend.log_incoming_request = log_later
    # moto reads EMR's region from the name of the host, which is no name of AWS here; others look at the signature.
    ElasticMapReduceResponse.get_region_from_url = BaseResponse.get_region_from_url


def permission(bucket: FakeBucket, action: str, resource: str) -> Any:
    """moto takes a statement with a condition for one without: "no plain HTTP" would refuse every object."""
    if bucket.policy is None:
        return PermissionResult.NEUTRAL
    policy = json.loads(bucket.policy)
    policy["Statement"] = [one for one in policy["Statement"] if "Condition" not in one]
    return IAMPolicy(json.dumps(policy)).is_action_permitted(action, resource)


def may_be_logged_to(_: FakeBucket, target_bucket: FakeBucket, target_prefix: str | None) -> bool:
    """moto wants the log bucket's policy first; AWS looks at it when it delivers."""
    return True


def log_later(_: S3Backend, request: Any, bucket_name: str) -> None:
    """moto writes an access log within each request, also into a bucket that was just emptied to be deleted.

    AWS delivers hours later, and not at all into a bucket whose policy is gone.
    """
