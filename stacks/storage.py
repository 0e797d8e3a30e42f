"""Buckets, and the encryption keys of all other stacks."""

from aws_cdk import Duration
from aws_cdk import aws_s3 as s3
from constructs import Construct
from lake_constructs.encryption_key import EncryptionKey, LogsKey
from lake_constructs.log_group import LogSettings
from lake_constructs.private_bucket import PrivateBucket

from lake.aws.rendering import REQUESTS, STATE
from lake.aws.storage import Tiering
from stacks.part import Blueprint, Part

RESULTS = "athena"  # prefix of query results
EMR_LOGS = "emr"


class StorageStack(Part):
    """The buckets of the lake's data."""

    def __init__(self, scope: Construct, blueprint: Blueprint) -> None:
        super().__init__(scope, blueprint)
        removal, days = blueprint.removal, self.settings.operations.log_days
        self.key = EncryptionKey(
            self, "DataKey", purpose="data", removal_policy=removal, services=["delivery.logs.amazonaws.com"]
        )
        self.log_settings = LogSettings(LogsKey(self, "LogsKey", removal_policy=removal), days)
        # S3 delivers access logs to buckets under its own key only.
        self.logs = PrivateBucket(self, "Logs", removal_policy=removal, rules=[expire(days)])
        tiers = self.settings.storage.bronze_tiering
        self.bronze = self._data("Bronze", *([cheaper(tiers)] if tiers else []))
        self.silver = self._data("Silver")
        results = expire(self.settings.catalog.results_days, RESULTS)
        # Old versions expire soon, because the status file is written every second.
        state = s3.LifecycleRule(noncurrent_version_expiration=Duration.days(1), prefix=f"{STATE}/")
        # An interrupted command leaves its request and its answer.
        self.artifacts = self._data("Artifacts", results, state, expire(1, REQUESTS))

    def _data(self, id: str, *rules: s3.LifecycleRule) -> PrivateBucket:
        removal = self.blueprint.removal
        return PrivateBucket(self, id, removal_policy=removal, key=self.key, access_logs=self.logs, rules=rules)


def expire(days: int, prefix: str | None = None) -> s3.LifecycleRule:
    return s3.LifecycleRule(expiration=Duration.days(days), prefix=f"{prefix}/" if prefix else None)


def cheaper(tiers: Tiering) -> s3.LifecycleRule:
    """Moves objects to cheaper classes. S3 leaves those below 128 KB where they are, because there they cost more."""
    classes = {
        s3.StorageClass.INFREQUENT_ACCESS: tiers.infrequent_access_days,
        s3.StorageClass.GLACIER_INSTANT_RETRIEVAL: tiers.glacier_ir_days,
    }
    return s3.LifecycleRule(
        transitions=[
            s3.Transition(storage_class=name, transition_after=Duration.days(days))
            for name, days in classes.items()
            if days
        ]
    )
