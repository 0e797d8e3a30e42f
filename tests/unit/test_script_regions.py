"""Every call of AWS from a script names its region.

The AWS CLI 1 of EMR 6 does not ask the machine for its region, and fails (aws/aws-cli#486, #5104).
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from lake.aws.steps import FETCH

ROOT = Path(__file__).parents[2]
FOLDERS = ("constructs/lake_constructs", "helm", "spark_jobs")
SHELL = re.compile(r"(?<![\w/.\"'-])aws(?: --?[a-z-]+)* [a-z0-9-]+ [^|;)&\n]*")
WORDS = re.compile(r"\[\s*[\"']aws[\"'],[^\]]*\]")
CLIENT = re.compile(r"\bboto3\.(?:client|resource|[Ss]ession[.\w]*)\([^)]*\)")
NAMES_IT = re.compile(r"--region\b|region_name=")


def calls(text: str) -> list[str]:
    """The calls of the command line and of the SDK, comments left out."""
    code = re.sub(r"\\\n\s*", "", "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#")))
    return [found[0] for pattern in (SHELL, WORDS, CLIENT) for found in pattern.finditer(code)]


def nameless(text: str) -> list[str]:
    return [call for call in calls(text) if not NAMES_IT.search(call)]


def scripts() -> Iterator[Path]:
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".sh", ".py", ".yaml", ".tpl"):
                yield path


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ('aws s3 cp "$1" -', 1),
        ('x=$(aws ssm get-parameter --name "$1")', 1),
        ("aws s3 cp a - |\n  aws s3 cp - b", 2),
        ('subprocess.run(["aws", "s3", "cp", url, "-"])', 1),
        ('client = boto3.client("s3")', 1),
        ("aws emr list-steps \\\n  --cluster-id j-1", 1),
        ("aws emr list-steps \\\n  --region r --cluster-id j-1", 0),
        ('boto3.client("emr", region_name=region)', 0),
        ("# aws s3 cp would fail", 0),
        ("from aws_cdk import aws_iam as iam", 0),
    ],
)
def test_a_call_without_a_region_is_seen(text: str, count: int) -> None:
    assert len(nameless(text)) == count


def test_every_call_of_a_script_names_its_region() -> None:
    found = {str(path.relative_to(ROOT)): nameless(path.read_text(encoding="utf-8")) for path in scripts()}
    assert {path: missed for path, missed in found.items() if missed} == {}


def test_the_scripts_do_call_aws() -> None:
    """The pattern still finds the calls that there are."""
    found = {path.name: len(calls(path.read_text(encoding="utf-8"))) for path in scripts()}
    assert [found[name] for name in ("run_job.sh", "start_job.sh", "report_on_primary.sh", "report_freshness.py")] == [
        1,
        3,
        2,
        2,
    ]
    assert found["cronjob-requests.yaml"] >= 3 and found["deployment.yaml"] >= 1


def test_the_command_that_fetches_a_script_names_its_region() -> None:
    assert calls(FETCH) != [] and nameless(FETCH) == []
