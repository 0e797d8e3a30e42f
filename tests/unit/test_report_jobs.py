"""The function that reports how fresh the tables of EMR Serverless are."""

import io
import json
import time
from typing import Any

import pytest
from lake_constructs.functions import report_jobs


class Aws:
    """S3 with the reports of jobs, and CloudWatch."""

    def __init__(self, reports: dict[str, dict[str, Any]]) -> None:
        self.reports, self.sent = reports, {}

    def client(self, service: str, region_name: str) -> "Aws":
        return self

    def list_objects_v2(self, Bucket: str, Prefix: str) -> dict[str, Any]:
        found = [{"Key": key} for key in self.reports if key.startswith(Prefix)]
        return {"Contents": found} if found else {}

    def get_object(self, Bucket: str, Key: str) -> dict[str, Any]:
        return {"Body": io.BytesIO(json.dumps(self.reports[Key]).encode())}

    def put_metric_data(self, Namespace: str, MetricData: list[dict[str, Any]]) -> None:
        self.sent = {Namespace: MetricData}


def test_it_reports_what_a_node_would_report(monkeypatch: pytest.MonkeyPatch) -> None:
    variables = {"AWS_REGION": "r", "ENVIRONMENT": "dev", "BUCKET": "b", "JOBS": "silver,bronze"}
    for name, value in {**variables, "STATUS": "state/{job}/status.json"}.items():
        monkeypatch.setenv(name, value)
    table = {"state": "stopped", "lag_ms": {"p95": 1500}}
    aws = Aws({"state/silver/status.json": {"at": time.time(), "tables": {"a": table}}})
    monkeypatch.setattr(report_jobs, "boto3", aws)
    found = report_jobs.handler({}, None)
    assert (found["Lag"], found["StoppedTables"]) == (1.5, 1.0)
    assert found["ReportAge"] == 86400.0  # bronze never reported
    (data,) = aws.sent.values()
    assert {one["MetricName"]: one["Value"] for one in data} == found
    assert data[0]["Dimensions"] == [{"Name": "Environment", "Value": "dev"}]
