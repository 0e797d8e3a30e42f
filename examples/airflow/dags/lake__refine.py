"""Writes a table for analysts anew. The table is one of those in operations.refine of the environment."""

from datetime import datetime, timedelta

from airflow.sdk import DAG, Param
from lake_steps import run_step

with DAG(
    dag_id="lake__refine",
    description="Write a table for analysts from the tables of the lake",
    doc_md=__doc__,
    schedule=None,
    start_date=datetime(2026, 1, 1),
    catchup=False,
    max_active_runs=1,
    tags=["lake", "emr", "refined"],
    default_args={"owner": "lake-operators", "retries": 1, "retry_delay": timedelta(minutes=5)},
    params={"table": Param("films_by_rating", type="string", pattern="^[a-z_][a-z0-9_]*$")},
):
    run_step("refine-{{ params.table }}", hours=2)
