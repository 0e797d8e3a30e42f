"""What the emulator takes for granted of moto, botocore and cfn-lint: a new version that breaks it shows here first."""

import inspect
import json
import re
import sys
from typing import Any

import pytest
from botocore.exceptions import ClientError
from moto.backends import get_backend
from moto.core.errors import get_exception_service_model
from moto.core.parse import PROTOCOL_PARSERS
from moto.core.responses import BaseResponse
from moto.core.serialize import get_serializer_class
from moto.emr.responses import ElasticMapReduceResponse
from moto.iam.access_control import IAMPolicy, PermissionResult
from moto.moto_server.werkzeug_app import DomainDispatcherApplication
from moto.s3.models import FakeBucket, S3Backend

from tests.emulated_account import patches
from tests.emulated_account.account import Account
from tests.emulated_account.clients import ACCOUNT
from tests.emulated_account.cloudformation import schema
from tests.emulated_account.command import ROOT
from tests.emulated_account.services.service import refuse

pytestmark = pytest.mark.account

REGION = "us-west-2"
DENIED_WITHOUT_TLS = {
    "Effect": "Deny",
    "Principal": {"AWS": "*"},
    "Action": "s3:*",
    "Resource": ["arn:aws:s3:::{0}", "arn:aws:s3:::{0}/*"],
    "Condition": {"Bool": {"aws:SecureTransport": "false"}},
}


def test_moto_is_pinned_exactly() -> None:
    assert '"moto[server]==5.2.5"' in (ROOT / "pyproject.toml").read_text()


def test_the_command_line_is_pinned_exactly() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", json.loads((ROOT / "package.json").read_text())["devDependencies"]["aws-cdk"])


@pytest.fixture
def bucket(account: Account, request: pytest.FixtureRequest) -> Any:
    """A bucket that refuses plain HTTP, and its name."""
    s3, name = account.client("s3", REGION), "contract"
    s3.create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": REGION})
    policy = json.dumps({"Version": "2012-10-17", "Statement": [DENIED_WITHOUT_TLS]}).replace("{0}", name)
    s3.put_bucket_policy(Bucket=name, Policy=policy)
    yield get_backend("s3")[ACCOUNT]["aws"].buckets[name]
    s3.delete_bucket(Bucket=name)


def test_moto_takes_a_condition_for_no_condition(bucket: FakeBucket) -> None:
    """The day it does not, patches.permission can go."""
    source = inspect.getsource(sys.modules[FakeBucket.__module__])
    assert "def get_permission(self, action: str, resource: str)" in source
    assert FakeBucket.get_permission is patches.permission
    asked = ("s3:PutObject", f"arn:aws:s3:::{bucket.name}/x")
    assert IAMPolicy(bucket.policy.decode()).is_action_permitted(*asked) == PermissionResult.DENIED
    assert bucket.get_permission(*asked) == PermissionResult.NEUTRAL


def test_an_object_can_be_put_and_the_policy_is_kept(account: Account, bucket: FakeBucket) -> None:
    s3 = account.client("s3", REGION)
    s3.put_object(Bucket=bucket.name, Key="x", Body=b"x")
    assert "SecureTransport" in s3.get_bucket_policy(Bucket=bucket.name)["Policy"]
    s3.delete_object(Bucket=bucket.name, Key="x")


def test_moto_asks_for_the_policy_of_a_log_bucket_first() -> None:
    """The day it does not, patches.may_be_logged_to can go."""
    source = inspect.getsource(FakeBucket.set_logging)
    assert "_log_permissions_enabled_policy(\n            target_bucket=target_bucket, target_prefix" in source
    assert FakeBucket._log_permissions_enabled_policy is patches.may_be_logged_to


def test_moto_logs_every_request_at_once() -> None:
    """The day it does not, patches.log_later can go."""
    assert "def log_incoming_request(self, request: Any, bucket_name: str)" in inspect.getsource(
        sys.modules[S3Backend.__module__]
    )
    assert S3Backend.log_incoming_request is patches.log_later


def test_moto_knows_the_policies_of_aws(account: Account) -> None:
    iam, place = account.client("iam", REGION), "arn:aws:iam::aws:policy/service-role"
    assert iam.get_policy(PolicyArn=f"{place}/AmazonEMRServicePolicy_v2")["Policy"]
    with pytest.raises(ClientError, match="NoSuchEntity"):
        iam.get_policy(PolicyArn=f"{place}/AmazonEMRServicePolicy_v9")


def test_moto_keeps_saved_queries_by_id(account: Account) -> None:
    """services/athena.py deletes from there; the day moto can, it can go."""
    id = account.client("athena", REGION).create_named_query(Name="x", Database="x", QueryString="x")["NamedQueryId"]
    queries = get_backend("athena")[ACCOUNT][REGION].named_queries
    assert id in queries
    account.client("athena", REGION).delete_named_query(NamedQueryId=id)
    assert id not in queries


def test_moto_reads_the_region_of_emr_from_the_host_alone() -> None:
    """The day it does not, the last of the patches can go."""
    source = inspect.getsource(ElasticMapReduceResponse)
    assert "def get_region_from_url(" in source and "Authorization" not in source
    assert ElasticMapReduceResponse.get_region_from_url is BaseResponse.get_region_from_url


def test_moto_keeps_security_configurations_by_name(account: Account) -> None:
    """services/emr.py lists them from there; the day moto can, it can go."""
    emr = account.client("emr", REGION)
    emr.create_security_configuration(Name="x", SecurityConfiguration="{}")
    assert "x" in get_backend("emr")[ACCOUNT][REGION].security_configurations
    assert emr.list_security_configurations()["SecurityConfigurations"] == [{"Name": "x"}]
    emr.delete_security_configuration(Name="x")


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("athena", "delete_named_query"),
        ("cloudtrail", "lookup_events"),
        ("emr", "list_security_configurations"),
        ("emr", "put_managed_scaling_policy"),
        ("emr", "put_auto_termination_policy"),
        ("eks", "create_addon"),
        ("eks", "create_access_entry"),
        ("eks", "create_pod_identity_association"),
        ("kafka", "get_bootstrap_brokers"),
        ("kafka", "create_configuration"),
    ],
)
def test_moto_still_lacks_what_services_adds(module: str, name: str) -> None:
    """The day it does not, compare the two and keep one."""
    found = __import__(f"moto.{module}.responses", fromlist=["responses"])
    classes = [one for one in vars(found).values() if inspect.isclass(one) and one.__module__ == found.__name__]
    assert classes and not any(hasattr(one, name) for one in classes)


@pytest.mark.parametrize("protocol", ["query", "json", "rest-json"])
def test_moto_reads_and_writes_the_protocols(protocol: str) -> None:
    assert protocol in PROTOCOL_PARSERS
    assert get_serializer_class("cloudformation" if protocol == "query" else "eks", protocol)


def test_an_error_from_here_is_not_taken_for_one_of_motos_services() -> None:
    assert get_exception_service_model(refuse("ValidationError", "x")) is None


def test_the_dispatcher_takes_a_function_that_makes_apps() -> None:
    assert list(inspect.signature(DomainDispatcherApplication).parameters) == ["create_app"]


def test_the_schemas_say_what_replaces_a_resource() -> None:
    before, after = {"DBInstanceIdentifier": "a", "BackupRetentionPeriod": 1}, {"BackupRetentionPeriod": 2}
    kind = "AWS::RDS::DBInstance"
    assert schema.replacing(REGION, kind, before, {**before, **after}) == []
    assert schema.replacing(REGION, kind, before, {"DBInstanceIdentifier": "b"}) == ["DBInstanceIdentifier"]
    assert schema.schema(REGION, "AWS::CDK::Metadata")["properties"]
