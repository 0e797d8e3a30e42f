"""Compares all rows of the lake with the source. The run fails if there is a difference."""

from datetime import datetime, timedelta

from airflow.sdk import DAG
from lake_steps import run_step

with DAG(
    dag_id="lake__verify",
    description="Compare all rows of the lake with the source, each night",
    doc_md=__doc__,
    schedule="0 2 * * *",
    start_date=datetime(2026, 1, 1),
    catchup=False,
    max_active_runs=1,
    tags=["lake", "emr", "data validation"],
    default_args={"owner": "lake-operators", "retries": 1, "retry_delay": timedelta(minutes=10)},
):
    run_step("verify", hours=4)
