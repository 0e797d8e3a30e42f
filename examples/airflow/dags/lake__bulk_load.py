"""Loads the archive into the second set of tables: HoodieStreamer, BULK_INSERT into tables that are empty."""

from datetime import datetime, timedelta

from airflow.sdk import DAG
from lake_steps import run_step

with DAG(
    dag_id="lake__bulk_load",
    description="Load the archive into the tables of HoodieStreamer",
    doc_md=__doc__,
    schedule=None,
    start_date=datetime(2026, 1, 1),
    catchup=False,
    max_active_runs=1,
    tags=["lake", "emr", "load"],
    default_args={"owner": "lake-operators", "retries": 1, "retry_delay": timedelta(minutes=5)},
):
    run_step("bulk-load", hours=8)
