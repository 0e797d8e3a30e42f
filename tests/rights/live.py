"""What a lake with kafka.auth: iam was asked for, in the short terms of recorded_calls.json."""

import json
import re
from collections.abc import Iterator
from urllib.parse import unquote

from lake.config.environment import Environment
from lake.local import iam

Short = tuple[str, str, str]  # role, action, resource
BUCKETS = {"silver": "Silver", "streamer": "Silver", "bronze": "Bronze", "state": "Artifacts"}  # by the first folder
REQUEST = re.compile(r" s3_(\w+) \S+ (/\S*) (?:2\d\d|404) ")
# What S3 checks for a request, by its guide "Required permissions for Amazon S3 API operations". DeleteObjects is left
# out: its keys are in its body, and the same folders have a DeleteObject, too.
S3 = {
    "AbortMultipartUpload": ("AbortMultipartUpload",),
    "CompleteMultipartUpload": ("PutObject",),
    "CopyObject": ("GetObject", "PutObject"),
    "CreateMultipartUpload": ("PutObject",),
    "DeleteObject": ("DeleteObject",),
    "DeleteObjects": (),
    "GetObject": ("GetObject",),
    "HeadBucket": (),  # the lake asks whether its server answers
    "HeadObject": ("GetObject",),
    "ListObjectsV2": ("ListBucket",),
    "PutObject": ("PutObject",),
    "UploadPart": ("PutObject",),
}
OF_BUCKETS = ("ListBucket",)
AUDITED = re.compile(r"cmd=(?:source:\S+ )?(\w+)(.*)")
NAMES = (re.compile(r"\bdb=(\w+) tbl=(\w+)"), re.compile(r"tableName:(\w+), dbName:(\w+)"), re.compile(r"^: (\w+)\s*$"))
# What AWS's client of the Glue catalog asks for a call of Hive's metastore: GlueMetastoreClientDelegate of
# awslabs/aws-glue-data-catalog-client-for-apache-hive-metastore, which EMR installs.
GLUE = {
    "add_partitions": ("GetTable", "BatchCreatePartition"),
    "alter_partitions": ("UpdatePartition",),
    "alter_table": ("GetTable", "GetDatabase", "UpdateTable"),
    "create_database": (),  # on AWS the stack of the catalog makes them
    "create_table": ("GetTable", "GetDatabase", "CreateTable"),
    "drop_partition": ("GetPartition", "DeletePartition"),
    "get_all_databases": (),  # the lake asks whether its metastore answers
    "get_all_functions": ("GetUserDefinedFunctions",),
    "get_database": ("GetDatabase",),
    "get_functions": ("GetUserDefinedFunctions",),
    "get_partitions": ("GetPartitions",),
    "get_schema": ("GetTable",),
    "get_table": ("GetTable",),
    "get_tables": ("GetTables",),
}
DATABASE_CALLS = ("GetDatabase",)
NO_CALLS = ("Cleaning", "Done")  # what else the audit log says


def decisions(home: Environment, *, allowed: bool = True) -> set[Short]:
    """Of the broker, since it was first started."""
    found = [json.loads(line) for line in (home.iam / "decisions.jsonl").read_text().splitlines()]
    return {(one["role"], one["action"], of_kafka(one["resource"])) for one in found if one["allowed"] is allowed}


def of_kafka(arn: str) -> str:
    """cluster, topic/<name>, group/<name>"""
    kind, _, _, *name = arn.split(":", 5)[5].split("/", 3)
    return "/".join([kind, *name])


def of_s3(home: Environment) -> set[Short]:
    """By the access log of the S3 server: its clients are the jobs, and the metastore, which calls nothing more."""
    found = REQUEST.findall((home.iam / "s3.log").read_text())
    return {one for operation, path in set(found) for one in _s3_calls(home.bucket, operation, path)}


def _s3_calls(bucket: str, operation: str, path: str) -> Iterator[Short]:
    """KeyError for an operation whose right nobody looked up. Of keys, only the first folder is kept."""
    key = unquote(path).removeprefix(f"/{bucket}/")
    folder = re.split("[/&]", key.partition("prefix=")[2] or key)[0]
    for action in S3[operation]:
        name = BUCKETS.get(folder)
        if name:
            yield iam.JOBS, f"s3:{action}", f"{{{name}}}" if action in OF_BUCKETS else f"{{{name}}}/{folder}/x"


def of_glue(home: Environment) -> set[Short]:
    """By the audit log of the metastore."""
    lines = AUDITED.findall(home.log("metastore").read_text(errors="replace"))
    calls = [(command, *_named(rest)) for command, rest in lines if command not in NO_CALLS]
    tables = {(database, table) for _, database, table in calls if table}
    # The log does not say of which table partitions are added: of all that were looked at.
    added = [("add_partitions", *one) for one in tables if ("add_partitions", "", "") in calls]
    named = [one for one in calls if one != ("add_partitions", "", "")]
    return {one for call in {*named, *added} for one in _glue_calls(*call)}


def _named(text: str) -> tuple[str, str]:
    """Database and table, "" where there is none."""
    of_table, declared, of_database = NAMES
    if found := of_table.search(text):
        return found[1], found[2]
    if found := declared.search(text):
        return found[2], found[1]
    return (found[1], "") if (found := of_database.search(text)) else ("", "")


def _glue_calls(command: str, database: str, table: str) -> Iterator[Short]:
    """Glue wants the right on the catalog, on the database and on the table. KeyError for an unknown command."""
    for action in GLUE[command]:
        resources = ["catalog", f"database/{database}"]
        if table and action not in DATABASE_CALLS:
            resources.append(f"table/{database}/{table}")
        yield from ((iam.JOBS, f"glue:{action}", one) for one in resources)
