"""Reports to CloudWatch how fresh the tables are, from the status files that the jobs write.

report_freshness.py <region> <environment> <status file>...       Standard library and Python 3.7: what EMR 6 has.
"""

import json
import subprocess
import sys
import time
from typing import Any, Dict, List

SILENT_S = 86400.0  # the age of a job that has never reported


def read(uri: str) -> Dict[str, Any]:
    """The status file; an empty one if the job has not written it yet."""
    done = subprocess.run(["aws", "s3", "cp", uri, "-"], stdout=subprocess.PIPE)
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
        "StoppedTables": float(len([facts for facts in tables if facts.get("state") == "stopped"])),
    }


def main(argv: List[str]) -> int:
    region, environment, files = argv[0], argv[1], argv[2:]
    found = measures([read(uri) for uri in files], time.time())
    dimension = [{"Name": "Environment", "Value": environment}]
    data = [{"MetricName": name, "Value": value, "Dimensions": dimension} for name, value in sorted(found.items())]
    command = ["aws", "cloudwatch", "put-metric-data", "--region", region, "--namespace", "Lake"]
    return subprocess.call(command + ["--metric-data", json.dumps(data)])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
