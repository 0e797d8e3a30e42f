"""Starts a continuous job in place of the one that runs, or stops it. Trigger it with the name of the job."""

from datetime import datetime, timedelta

from airflow.sdk import DAG, Param
from lake_steps import run_step

with DAG(
    dag_id="lake__streaming_jobs",
    description="Start or stop a continuous job of the lake",
    doc_md=__doc__,
    schedule=None,
    start_date=datetime(2026, 1, 1),
    catchup=False,
    max_active_runs=1,
    tags=["lake", "emr", "streaming"],
    default_args={"owner": "lake-operators", "retries": 1, "retry_delay": timedelta(minutes=5)},
    params={
        "action": Param("start", enum=["start", "stop"]),
        "job": Param("stream", type="string", pattern="^[a-z][a-z0-9-]{0,20}$"),
    },
):
    run_step("{{ params.action }}-{{ params.job }}", hours=1)
