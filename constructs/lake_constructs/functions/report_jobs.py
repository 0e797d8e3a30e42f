"""Lambda: reports to CloudWatch how fresh the tables of EMR Serverless are, which has no node to do it.

A schedule calls it once a minute. Environment: ENVIRONMENT, BUCKET, STATUS (the key of a job's report, with {job}) and
JOBS (names, with commas).
"""

import json
import os
import time
from typing import Any

import boto3
from lake_constructs.scripts.report_freshness import measures


def handler(event: object, context: object) -> dict[str, float]:
    """What it reported."""
    region = os.environ["AWS_REGION"]
    s3 = boto3.client("s3", region_name=region)
    keys = [os.environ["STATUS"].replace("{job}", job) for job in os.environ["JOBS"].split(",")]
    found = measures([read(s3, key) for key in keys], time.time())
    dimension = [{"Name": "Environment", "Value": os.environ["ENVIRONMENT"]}]
    data = [{"MetricName": name, "Value": value, "Dimensions": dimension} for name, value in sorted(found.items())]
    boto3.client("cloudwatch", region_name=region).put_metric_data(Namespace="Lake", MetricData=data)
    return found


def read(s3: Any, key: str) -> dict[str, Any]:
    """The report; an empty one if the job has not written it yet."""
    bucket = os.environ["BUCKET"]
    there = s3.list_objects_v2(Bucket=bucket, Prefix=key).get("Contents", [])
    if key not in [one["Key"] for one in there]:
        return {}
    return dict(json.loads(s3.get_object(Bucket=bucket, Key=key)["Body"].read()))
