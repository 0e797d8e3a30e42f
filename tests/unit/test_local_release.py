"""A lake on this machine on the Spark and the Hudi of another release of EMR than the default."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lake.aws.environment import load_aws_environment
from lake.config.environment import PROJECT, Environment
from lake.config.errors import BadInput
from lake.config.report import silent
from lake.deployments.aws import AwsDeployment
from lake.local import streamer
from lake.local.metastore import Metastore
from lake.local.preflight import check_build
from lake.local.spark_submit import spark_conf, spark_environment, spark_home
from lake.rendering.streamer import RunOptions

OTHER = "emr-7.10.0"


@pytest.fixture
def home(tmp_path: Path) -> Environment:
    """A project folder in which nothing is built."""
    return Environment(name="local", root=tmp_path, release=OTHER)


def test_its_pyspark_is_that_beside_the_jars(home: Environment) -> None:
    with pytest.raises(BadInput, match=f"PySpark of {OTHER} is not installed.*run: LAKE_RELEASE={OTHER} make setup"):
        spark_home(home)
    folder = home.root / "build" / OTHER / "python" / "pyspark"
    folder.mkdir(parents=True)
    assert spark_home(home) == folder
    assert spark_environment(home, {})["SPARK_HOME"] == str(folder)


def test_its_jobs_get_its_jars_and_its_classes(home: Environment) -> None:
    settings = spark_conf(home)
    assert settings["spark.driver.extraClassPath"] == f"{home.root}/build/{OTHER}/spark/*"
    assert f"{home.root}/build/{OTHER}/spark.jsa" in settings["spark.driver.defaultJavaOptions"]


def test_a_lake_without_its_build_does_not_start(home: Environment) -> None:
    with pytest.raises(BadInput, match=f"{OTHER}/spark; run: LAKE_RELEASE={OTHER} make setup"):
        check_build([Metastore(home.model_copy(update={"root": with_launcher(home.root)}))])


def with_launcher(root: Path) -> Path:
    launcher = root / "metastore_launcher" / "LoopbackMetastore.java"
    launcher.parent.mkdir()
    launcher.touch()
    return root


def test_hoodie_streamer_is_refused_with_the_reason(home: Environment) -> None:
    with pytest.raises(BadInput, match=f"{OTHER} carries Hudi 0.15.0, .* built with 0.14.0.*run it on emr-6.15.0"):
        streamer.run(home, RunOptions(), silent)
    assert list(home.root.iterdir()) == []


def test_it_is_on_aws_too_before_any_call() -> None:
    prod = load_aws_environment(PROJECT, "prod")
    processing = prod.processing.model_copy(update={"release": OTHER})
    deployment = AwsDeployment(prod.model_copy(update={"processing": processing}), [])
    with pytest.raises(BadInput, match=f"{OTHER} carries Hudi 0.15.0.*key processing.release; run it on emr-6.15.0"):
        deployment.run_streamer(RunOptions(), silent)


def test_the_set_up_refuses_a_release_that_it_does_not_know(tmp_path: Path) -> None:
    command = [sys.executable, str(PROJECT / "tools/bootstrap.py")]
    variables = {**os.environ, "LAKE_RELEASE": "emr-7.11.0"}
    done = subprocess.run(command, env=variables, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2
    assert "nothing was downloaded" in done.stderr
    known = "choose one of emr-6.15.0, emr-7.10.0, or unset it"
    assert f"release 'emr-7.11.0' is not known here; environment variable LAKE_RELEASE; {known}" in done.stderr
