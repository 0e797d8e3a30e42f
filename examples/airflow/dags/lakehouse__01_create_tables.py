"""Creates the tables of the lakehouse in Redshift, if they are not there yet."""

from datetime import datetime, timedelta

from airflow.sdk import DAG
from lakehouse import TABLES, redshift

with DAG(
    dag_id="lakehouse__01_create_tables",
    description="Create the tables of the lakehouse in Redshift",
    doc_md=__doc__,
    schedule=None,
    start_date=datetime(2026, 1, 1),
    catchup=False,
    max_active_runs=1,
    tags=["lakehouse", "redshift"],
    default_args={"owner": "lake-analysts", "retries": 1, "retry_delay": timedelta(minutes=5)},
):
    redshift("create_tables", [f"create_{table}" for table in TABLES])
