"""Writes sales by day and category from Redshift back to S3, where Athena reads them by a table of the Glue catalog.

No crawler is needed: the columns are known.
"""

from datetime import datetime, timedelta

from airflow.sdk import DAG, chain
from lakehouse import athena, empty, redshift

FOLDER = "lakehouse/sales_by_category/"

with DAG(
    dag_id="lakehouse__04_unload_and_query",
    description="Unload sales by category from Redshift, and query them by Athena",
    doc_md=__doc__,
    schedule="0 5 * * *",
    start_date=datetime(2026, 1, 1),
    catchup=False,
    max_active_runs=1,
    tags=["lakehouse", "redshift", "athena", "glue"],
    default_args={"owner": "lake-analysts", "retries": 1, "retry_delay": timedelta(minutes=5)},
):
    chain(
        empty("empty_folder", FOLDER),
        redshift("unload", ["unload_sales"], folder=FOLDER),
        athena("create_database", "create_database"),
        athena("create_table", "create_sales_by_category", folder=FOLDER),
        athena("find_partitions", "find_partitions"),
        athena("query", "best_categories"),
    )
