"""What the DAGs of the Redshift lakehouse share: its tables, and the tasks that bring rows into them.

The variable `lakehouse` is JSON: workgroup and database of Redshift, role (the ARN of the role with which Redshift
reads and writes S3), bucket, athena (a work group), and source (a database of the lake, such as tickit_cow). Both
services log in with the rights of the worker: there is no password. S3ToRedshiftOperator is not used, because it writes
keys of AWS into the SQL.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from airflow.providers.amazon.aws.hooks.s3 import S3Hook
from airflow.providers.amazon.aws.operators.athena import AthenaOperator
from airflow.providers.amazon.aws.operators.redshift_data import RedshiftDataOperator
from airflow.providers.amazon.aws.operators.s3 import S3DeleteObjectsOperator
from airflow.sdk import chain, task, task_group

# The columns of every table, in the order of sql/redshift/create_<table>.sql. The first one is the key.
TABLES: Mapping[str, tuple[str, ...]] = {
    "category": ("catid", "catgroup", "catname", "catdesc"),
    "venue": ("venueid", "venuename", "venuecity", "venuestate", "venueseats"),
    "date": ("dateid", "caldate", "day", "week", "month", "qtr", "year", "holiday"),
    "event": ("eventid", "venueid", "catid", "dateid", "eventname", "starttime"),
    "user": ("userid", "username", "firstname", "lastname", "city", "state", "email", "phone"),
    "listing": (
        *("listid", "sellerid", "eventid", "dateid", "numtickets", "priceperticket"),
        *("totalprice", "listtime"),
    ),
    "sale": (
        *("salesid", "listid", "sellerid", "buyerid", "eventid", "dateid", "qtysold", "pricepaid"),
        *("commission", "saletime"),
    ),
}
BUCKET = "{{ var.json.lakehouse.bucket }}"
LOOK_EVERY_S = 10


def bring(table: str, unload: str, statements: Sequence[str]) -> None:
    """Writes rows of the lake to S3 by Athena, and reads them into Redshift; nothing to read is no failure.

    unload is a file of sql/athena/, statements are files of sql/redshift/.
    """
    folder = f"lakehouse/{unload}/{table}/"

    @task_group(group_id=table)
    def steps() -> None:
        about = {"table": table, "columns": list(TABLES[table]), "folder": folder}
        chain(
            empty("empty_folder", folder),
            athena("unload", unload, **about),
            any_file(BUCKET, folder),
            redshift("copy", statements, **about),
        )

    steps()


@task.short_circuit
def any_file(bucket: str, folder: str) -> bool:
    """False if Athena found no rows: it writes no file then, and COPY of nothing fails."""
    return bool(S3Hook().list_keys(bucket, folder, max_items=1))


def empty(task_id: str, folder: str) -> S3DeleteObjectsOperator:
    """Deletes the files of the run before: UNLOAD wants an empty folder, or adds to what is there."""
    return S3DeleteObjectsOperator(task_id=task_id, bucket=BUCKET, prefix=folder)


def athena(task_id: str, query: str, **about: Any) -> AthenaOperator:
    """One statement on the tables of the lake; query is a file of sql/athena/."""
    return AthenaOperator(
        task_id=task_id,
        query=f"sql/athena/{query}.sql",
        database="{{ var.json.lakehouse.source }}",
        workgroup="{{ var.json.lakehouse.athena }}",
        sleep_time=LOOK_EVERY_S,
        params=about,
    )


def redshift(task_id: str, statements: Sequence[str], **about: Any) -> RedshiftDataOperator:
    """Statements in one transaction; each is a file of sql/redshift/."""
    return RedshiftDataOperator(
        task_id=task_id,
        sql=[f"sql/redshift/{one}.sql" for one in statements],
        workgroup_name="{{ var.json.lakehouse.workgroup }}",
        database="{{ var.json.lakehouse.database }}",
        poll_interval=LOOK_EVERY_S,
        params=about,
    )
