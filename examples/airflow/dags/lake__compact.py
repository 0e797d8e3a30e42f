"""Asks the streaming job to compact all merge-on-read tables, so that read-optimised queries see the newest rows."""

from datetime import datetime, timedelta

from airflow.sdk import DAG
from lake_steps import run_step

with DAG(
    dag_id="lake__compact",
    description="Compact all merge-on-read tables, each night",
    doc_md=__doc__,
    schedule="0 1 * * *",
    start_date=datetime(2026, 1, 1),
    catchup=False,
    max_active_runs=1,
    tags=["lake", "emr", "compaction"],
    default_args={"owner": "lake-operators", "retries": 1, "retry_delay": timedelta(minutes=10)},
):
    run_step("compact", hours=2)
