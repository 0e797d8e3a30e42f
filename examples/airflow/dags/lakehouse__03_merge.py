"""Merges the rows that changed in the lake during the last days into Redshift.

A row that is merged twice does no harm. After a longer pause trigger it with more days.
"""

from datetime import datetime, timedelta

from airflow.sdk import DAG, Param
from lakehouse import TABLES, bring

MERGE = ["create_changes", "add_deleted", "copy_changes", "delete_changed", "insert_changed"]

with DAG(
    dag_id="lakehouse__03_merge",
    description="Merge the changes of the last days into Redshift, each night",
    doc_md=__doc__,
    schedule="0 3 * * *",
    start_date=datetime(2026, 1, 1),
    catchup=False,
    max_active_runs=1,
    tags=["lakehouse", "redshift", "athena", "incremental"],
    default_args={"owner": "lake-analysts", "retries": 1, "retry_delay": timedelta(minutes=5)},
    params={"days": Param(2, type="integer", minimum=1, maximum=366)},
):
    for table in TABLES:
        bring(table, "unload_changes", MERGE)
