"""Log groups that AWS makes by itself, under names that follow from the lake's: no stack has them, and no tag.

EKS, RDS, Lambda and the agents deliver the last lines after their own deletion, into a group that they make again.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from botocore.exceptions import ClientError

from lake.deployments.account import Account, code

# Of the agents of all databases of a region, with a stream for each database.
SHARED = "RDSOSMetrics"


def found(account: Account, environment: str) -> list[str]:
    """The log groups of a lake, and the shared one if it is empty."""
    lake = f"lake-{environment}"
    services = ("eks/", "rds/instance/", "containerinsights/")
    prefixes = [*(f"/aws/{service}{lake}/" for service in services), f"/aws/lambda/{lake}-", f"{lake}-"]
    named = [name for prefix in prefixes for name in _named(account, prefix)]
    return [*named, *(name for name in _named(account, SHARED) if name == SHARED and not _streams(account))]


def delete(account: Account, names: list[str]) -> None:
    for name in names:
        with unless_gone():
            account.client("logs").delete_log_group(logGroupName=name)


def delete_streams(account: Account, databases: list[str]) -> None:
    """Deletes the streams of these databases from the shared group."""
    for id in databases:
        with unless_gone():
            account.client("logs").delete_log_stream(logGroupName=SHARED, logStreamName=id)


@contextmanager
def unless_gone() -> Iterator[None]:
    """Somebody else may delete the same."""
    try:
        yield
    except ClientError as error:
        if code(error) != "ResourceNotFoundException":
            raise


def databases(account: Account, environment: str) -> list[str]:
    """The resource ids of the databases of a lake, which are the names of their streams."""
    every = account.pages("rds", "describe_db_instances", "DBInstances")
    return [one["DbiResourceId"] for one in every if one["DBInstanceIdentifier"] == f"lake-{environment}"]


def _named(account: Account, prefix: str) -> Iterator[str]:
    every = account.pages("logs", "describe_log_groups", "logGroups", logGroupNamePrefix=prefix)
    return (str(one["logGroupName"]) for one in every)


def _streams(account: Account) -> bool:
    return bool(account.client("logs").describe_log_streams(logGroupName=SHARED, limit=1)["logStreams"])
