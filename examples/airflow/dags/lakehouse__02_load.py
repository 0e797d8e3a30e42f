"""Fills the lakehouse with all live rows of the lake. Run it again to lose rows that were hard-deleted."""

from datetime import datetime, timedelta

from airflow.sdk import DAG
from lakehouse import TABLES, bring

with DAG(
    dag_id="lakehouse__02_load",
    description="Copy all rows of the lake into Redshift",
    doc_md=__doc__,
    schedule=None,
    start_date=datetime(2026, 1, 1),
    catchup=False,
    max_active_runs=1,
    tags=["lakehouse", "redshift", "athena", "load"],
    default_args={"owner": "lake-analysts", "retries": 1, "retry_delay": timedelta(minutes=5)},
):
    for table in TABLES:
        bring(table, "unload_all", ["delete_all", "copy_all"])
