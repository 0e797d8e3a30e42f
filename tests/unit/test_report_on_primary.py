"""The bootstrap action that lets the primary node report, run against stand-ins for the node's commands."""

import configparser
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[2] / "constructs/lake_constructs/scripts"
ARGUMENTS = ["eu-central-1", "dev", "/lake/dev/sheet"]
GREP = "exit {other}\n"
SUDO = """
case "$1" in
  tee) mkdir -p "{folder}/node/$(dirname "$2")"; cat > "{folder}/node/$2" ;;
  *) echo "$*" >> {folder}/log ;;
esac
"""
AWS = """
echo "aws $*" >> {folder}/log
case "$1 $2" in
  "ssm get-parameter") cat {folder}/outputs.json ;;
  "s3 cp") case "$*" in *status*) cat {folder}/status.json ;; *) cat {scripts}/report_freshness.py ;; esac ;;
esac
"""
PYTHON = 'exec {python} "$@"\n'  # not a wrapper that would put other commands before ours
STATUS = "s3://artifacts/state/{job}/status.json"
TOLD = {"program": "s3://assets/1.py", "status": STATUS, "jobs": ["stream"]}


class Node:
    """A node of the cluster; its files are below node/."""

    def __init__(self, folder: Path, *, primary: bool = True) -> None:
        self.folder = folder
        for name, body in {"grep": GREP, "sudo": SUDO, "aws": AWS, "python3": PYTHON}.items():
            command = folder / name
            places = {"folder": folder, "scripts": SCRIPTS, "python": sys.executable, "other": int(not primary)}
            command.write_text("#!/bin/bash\n" + body.format(**places))
            command.chmod(0o755)
        (folder / "outputs.json").write_text(json.dumps({"reporter": TOLD}))
        (folder / "status.json").write_text(json.dumps({"at": 0.0, "tables": {}}))

    def run(self, *command: str) -> None:
        path = f"{self.folder}{os.pathsep}{os.environ['PATH']}"
        subprocess.run(list(command), env={"PATH": path}, check=True, timeout=60)

    def boot(self) -> "Node":
        self.run("bash", str(SCRIPTS / "report_on_primary.sh"), *ARGUMENTS)
        return self

    def heard(self) -> list[str]:
        return (self.folder / "log").read_text().splitlines()

    def unit(self, kind: str) -> Path:
        return self.folder / "node/etc/systemd/system" / f"lake-report.{kind}"

    def setting(self, kind: str, section: str, key: str) -> str:
        unit = configparser.ConfigParser(interpolation=None)
        unit.optionxform = str  # type: ignore[assignment,method-assign]
        unit.read(self.unit(kind))
        return unit[section][key]


def test_a_timer_reports_every_minute(tmp_path: Path) -> None:
    node = Node(tmp_path).boot()
    assert node.setting("timer", "Timer", "OnCalendar") == "*-*-* *:*:00"
    assert node.setting("timer", "Install", "WantedBy") == "timers.target"
    assert node.setting("service", "Service", "User") == "hadoop"
    assert node.heard() == ["systemctl daemon-reload", "systemctl enable --now lake-report.timer"]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed here")
def test_systemd_knows_every_word_of_the_units(tmp_path: Path) -> None:
    node = Node(tmp_path).boot()
    for kind in ("service", "timer"):
        text = node.unit(kind).read_text().replace("User=hadoop", "User=root").replace("/usr/local", "/usr")
        node.unit(kind).write_text(text)
    command = ["systemd-analyze", "verify", "--man=no", *(str(node.unit(kind)) for kind in ("service", "timer"))]
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    assert [line for line in done.stdout.splitlines() if "lake-report" in line] == []


def test_the_service_runs_what_the_deployment_names(tmp_path: Path) -> None:
    """Program and jobs are read at each run: a new one is seen without a new node."""
    node = Node(tmp_path).boot()
    words = node.setting("service", "Service", "ExecStart").split()
    assert words == ["/bin/bash", "/usr/local/bin/lake-report", *ARGUMENTS]
    node.run("bash", f"{tmp_path}/node{words[1]}", *words[2:])
    *_, parameter, program, status, report = node.heard()
    assert "get-parameter" in parameter and "/lake/dev/sheet" in parameter
    assert str(TOLD["program"]) in program and "s3://artifacts/state/stream/status.json" in status
    assert report.startswith("aws cloudwatch put-metric-data --region eu-central-1 --namespace Lake --metric-data")
    assert '"Value": "dev"' in report and '"MetricName": "ReportAge"' in report


def test_other_nodes_report_nothing(tmp_path: Path) -> None:
    Node(tmp_path, primary=False).boot()
    assert not (tmp_path / "node").exists() and not (tmp_path / "log").exists()
