"""The connections that RDS allows, by the class of the instance."""

import pytest

from lake.aws.source import max_connections


@pytest.mark.parametrize(
    ("instance", "most"),
    [("db.t4g.micro", 101), ("db.t4g.medium", 405), ("db.m7g.large", 811), ("db.r7g.2xlarge", 5000)],
)
def test_connections_follow_from_memory(instance: str, most: int) -> None:
    assert max_connections(instance) == most
