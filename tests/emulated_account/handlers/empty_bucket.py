"""Buckets of throw-away environments, emptied before they are deleted."""

from collections.abc import Mapping
from typing import Any

from tests.emulated_account.errors import NotEmulated
from tests.emulated_account.handlers.handler import Handler
from tests.emulated_account.resources.kind import Made, Properties

TAG = {"Key": "aws-cdk:auto-delete-objects", "Value": "true"}


class AutoDeleteObjects(Handler):
    type = "Custom::S3AutoDeleteObjects"

    def create(self, properties: Properties) -> Made:
        self.function(properties)
        return Made(self.place.name(), {"BucketName": properties["BucketName"]})

    def update(self, made: Made, properties: Properties, before: Mapping[str, Any]) -> Made:
        if properties["BucketName"] != before["BucketName"]:
            raise NotEmulated("another bucket for S3AutoDeleteObjects")
        self.function(properties)
        return made

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        """Only a bucket that still carries the tag is emptied, as the handler of the CDK does it."""
        s3, bucket = self.place.clients("s3", self.place.region), properties["BucketName"]
        if TAG not in s3.get_bucket_tagging(Bucket=bucket)["TagSet"]:
            return
        for page in s3.get_paginator("list_object_versions").paginate(Bucket=bucket):
            found = [*page.get("Versions", []), *page.get("DeleteMarkers", [])]
            objects = [{"Key": one["Key"], "VersionId": one["VersionId"]} for one in found]
            if objects:
                s3.delete_objects(Bucket=bucket, Delete={"Objects": objects})
