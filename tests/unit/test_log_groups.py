"""Log groups that AWS makes by itself: found by name, and never those of another lake or of a living database."""

from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError

from lake.deployments import log_groups

OWN = ("/aws/eks/lake-dev/cluster", "/aws/containerinsights/lake-dev/host", "/aws/rds/instance/lake-dev/postgresql")
FOREIGN = ("/aws/eks/lake-dev2/cluster", "/aws/rds/instance/shop/postgresql", "RDSOSMetrics-of-mine")


class Logs:
    """CloudWatch Logs as an account and its client see it: streams by group."""

    def __init__(self, *groups: str, streams: tuple[str, ...] = ()) -> None:
        self.groups = {name: {log_groups.SHARED: list(streams)}.get(name, []) for name in groups}

    def client(self, _: str) -> "Logs":
        return self

    def pages(self, _: str, __: str, ___: str, *, logGroupNamePrefix: str) -> Iterator[dict[str, Any]]:
        yield from ({"logGroupName": name} for name in list(self.groups) if name.startswith(logGroupNamePrefix))

    def describe_log_streams(self, *, logGroupName: str, limit: int) -> dict[str, Any]:
        return {"logStreams": self.groups[logGroupName][:limit]}

    def delete_log_stream(self, *, logGroupName: str, logStreamName: str) -> None:
        if logStreamName not in self.groups.get(logGroupName, []):
            raise refused("ResourceNotFoundException")
        self.groups[logGroupName].remove(logStreamName)

    def delete_log_group(self, *, logGroupName: str) -> None:
        raise refused("ResourceNotFoundException" if logGroupName == OWN[0] else "AccessDeniedException")


def refused(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": ""}}, "call")


def test_groups_of_the_lake_are_found_and_others_are_not() -> None:
    found: Any = Logs(*OWN, *FOREIGN)
    assert sorted(log_groups.found(found, "dev")) == sorted(OWN)


def test_the_shared_group_goes_with_its_last_database() -> None:
    logs: Any = Logs(log_groups.SHARED, streams=("db-LAKE", "db-OTHER"))
    log_groups.delete_streams(logs, ["db-LAKE", "db-GONE"])
    assert (logs.groups[log_groups.SHARED], log_groups.found(logs, "dev")) == (["db-OTHER"], [])
    log_groups.delete_streams(logs, ["db-OTHER"])
    assert log_groups.found(logs, "dev") == [log_groups.SHARED]


def test_a_group_that_is_gone_is_no_failure_and_a_refusal_is() -> None:
    logs: Any = Logs(*OWN)
    log_groups.delete(logs, [OWN[0]])
    with pytest.raises(ClientError):
        log_groups.delete(logs, [OWN[1]])
