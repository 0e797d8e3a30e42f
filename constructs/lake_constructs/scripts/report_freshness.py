"""Reports to CloudWatch how fresh the tables are, from the status files that the jobs write.

report_freshness.py <region> <environment>     Standard library and Python 3.7: what EMR 6 has.

Standard input has the outputs of the deployment: reporter.jobs are the names of the jobs, and reporter.status is the
URL of a status file with {job} for the name.
"""

import json
import subprocess
import sys
import time
from typing import Any, Dict, List

SILENT_S = 86400.0  # the age of a job that has never reported
STOPPED = ("stopped", "failed")  # the second is HoodieStreamer's word


def read(region: str, url: str) -> Dict[str, Any]:
    """The status file; an empty one if the job has not written it yet."""
    done = subprocess.run(["aws", "s3", "cp", "--region", region, url, "-"], stdout=subprocess.PIPE)
    return dict(json.loads(done.stdout.decode("utf-8"))) if done.returncode == 0 else {}


def measures(reports: List[Dict[str, Any]], now: float) -> Dict[str, float]:
    """The age of the oldest report, the greatest lag (p95 of the last minute, or time behind), counts of bad things."""
    tables = [facts for report in reports for facts in report.get("tables", {}).values()]
    lags = [(facts.get("lag_ms", {}).get("p95") or 0) / 1000.0 for facts in tables]
    behind = [facts.get("behind_s") or 0.0 for facts in tables]  # a table that hangs has no lag for the last minute
    return {
        "ReportAge": max([now - report["at"] if report else SILENT_S for report in reports]),
        "Lag": max(lags + behind + [0.0]),
        "QuarantinedMessages": float(sum(facts.get("quarantined") or 0 for facts in tables)),
        "StoppedTables": float(len([facts for facts in tables if facts.get("state") in STOPPED])),
    }


def main(argv: List[str]) -> int:
    region, environment = argv
    told = json.load(sys.stdin)["reporter"]
    reports = [read(region, told["status"].replace("{job}", job)) for job in told["jobs"]]
    found = measures(reports, time.time())
    dimension = [{"Name": "Environment", "Value": environment}]
    data = [{"MetricName": name, "Value": value, "Dimensions": dimension} for name, value in sorted(found.items())]
    command = ["aws", "cloudwatch", "put-metric-data", "--region", region, "--namespace", "Lake"]
    return subprocess.call(command + ["--metric-data", json.dumps(data)])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
