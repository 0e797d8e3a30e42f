"""The start script of a continuous job, run against a YARN, an AWS and a Spark that only write down what they hear."""

import os
import subprocess
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[2] / "constructs/lake_constructs/scripts"
PLACES = ["b-1:9098,b-2:9098", "http://registry:8080", "artifacts", "silver", "bronze"]
YARN = """
echo "yarn $*" >> {log}
case "$2" in
  -list) [ -e {folder}/silent ] && exit 1
         [ -e {folder}/killed ] || echo "application_1_7 lake-stream SPARK RUNNING" ;;
  -kill) touch {folder}/killed ;;
esac
"""
AWS = """
case "$*" in
  *stop_job.sh*) cat {scripts}/stop_job.sh ;;
  *template*) echo '{{"brokers": "@BROKERS@", "registry": "@REGISTRY@/v7", "path": "s3://@SILVER@/silver"}}' ;;
  *) cat > {folder}/pipeline.json; echo "aws $*" >> {log} ;;
esac
"""
SPARK = 'echo "spark-submit $*" >> {log}\n'


def run(folder: Path) -> list[str]:
    """What the commands heard, in order."""
    log = folder / "log"
    for name, body in {"yarn": YARN, "aws": AWS, "spark-submit": SPARK}.items():
        command = folder / name
        command.write_text("#!/bin/bash\n" + body.format(log=log, folder=folder, scripts=SCRIPTS))
        command.chmod(0o755)
    arguments = [
        "eu-central-1",
        "s3://assets/stop_job.sh",
        "lake-stream",
        "s3://assets/template.json",
        "s3://artifacts/pipeline.json",
        *PLACES,
        "--name",
        "stream",
    ]
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    subprocess.run([str(SCRIPTS / "start_job.sh"), *arguments], env={"PATH": path}, check=True, timeout=300)
    return log.read_text().splitlines()


def test_the_running_job_ends_before_the_new_one_starts(tmp_path: Path) -> None:
    heard = run(tmp_path)
    assert "yarn application -kill application_1_7" in heard
    assert heard.index("yarn application -kill application_1_7") < heard.index("spark-submit --name stream")
    assert heard[-1] == "spark-submit --name stream"


def test_the_first_start_has_nothing_to_end(tmp_path: Path) -> None:
    (tmp_path / "killed").touch()
    assert [line for line in run(tmp_path) if "-kill" in line] == []


def test_the_pipeline_file_names_the_places(tmp_path: Path) -> None:
    run(tmp_path)
    assert (tmp_path / "pipeline.json").read_text().strip() == (
        '{"brokers": "b-1:9098,b-2:9098", "registry": "http://registry:8080/v7", "path": "s3://silver/silver"}'
    )


def test_nothing_is_started_when_yarn_does_not_answer(tmp_path: Path) -> None:
    (tmp_path / "silent").touch()
    with pytest.raises(subprocess.CalledProcessError):
        run(tmp_path)
    assert "spark-submit" not in (tmp_path / "log").read_text()
