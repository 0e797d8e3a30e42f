"""The pipeline file as a job reads it."""

import json
from pathlib import Path

from pyspark.sql import SparkSession

from lake.config.environment import Environment
from lake.rendering.pipeline import pipeline
from spark_jobs.runtime.pipeline import read_pipeline

LOCAL = Environment(name="local", root=Path(__file__).parents[2])


def test_the_broker_holds_no_question_for_long(spark: SparkSession, tmp_path: Path) -> None:
    """Else each further look at a batch waits for half a second; `python -m benchmarks quiet` shows it."""
    file = tmp_path / "pipeline.json"
    content = pipeline([], LOCAL)
    file.write_text(json.dumps(content))
    kafka = read_pipeline(spark, file.as_uri()).kafka
    assert int(kafka["kafka.fetch.max.wait.ms"]) <= 50
    assert kafka.items() >= content["kafka"].items()
