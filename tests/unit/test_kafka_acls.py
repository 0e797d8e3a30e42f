"""What Kafka's users may do: the same as the roles of the stacks, in Kafka's own words."""

from lake.config.definition import Database
from lake.rendering.kafka_acls import CONNECT, JOBS, Acl, of_connect, of_jobs, of_sales

SHOP = Database.model_validate({"database": "shop", "tables": {"public.sale": {"key": ["id"]}}})


def may(acls: list[Acl], kind: str, name: str) -> set[str]:
    """The operations on one resource."""
    matching = [
        one for one in acls if one.kind == kind and (one.name == name or (one.prefixed and name.startswith(one.name)))
    ]
    return {operation for one in matching for operation in one.operations}


def test_connect_creates_and_writes_the_topics_of_tables_and_reads_none() -> None:
    acls = list(of_connect([SHOP], "connect"))
    assert {one.user for one in acls} == {CONNECT}
    assert may(acls, "topic", "shop.public.sale") == {"CREATE", "DESCRIBE", "WRITE"}
    assert may(acls, "topic", SHOP.heartbeat_topic) == {"CREATE", "DESCRIBE", "WRITE"}
    assert may(acls, "topic", "shopping.public.sale") == set()


def test_a_worker_keeps_its_state_in_its_own_topics_and_group() -> None:
    acls = list(of_connect([], "connect"))
    for name in ("connect-configs", "connect-offsets", "connect-status"):
        assert may(acls, "topic", name) == {"CREATE", "DESCRIBE", "DESCRIBE_CONFIGS", "READ", "WRITE"}
    assert may(acls, "group", "connect") == {"DESCRIBE", "READ"}
    assert may(acls, "cluster", "kafka-cluster") == {"IDEMPOTENT_WRITE"}


def test_a_sink_reads_as_its_own_group() -> None:
    acls = list(of_connect([SHOP], "connect", ["sink_s3_shop"]))
    assert "READ" in may(acls, "topic", "shop.public.sale")
    assert may(acls, "group", "connect-sink_s3_shop") == {"DESCRIBE", "READ"}


def test_jobs_read_topics_and_write_none() -> None:
    acls = list(of_jobs([SHOP], ["lake_stream"]))
    assert {one.user for one in acls} == {JOBS}
    assert may(acls, "topic", "shop.public.sale") == {"DESCRIBE", "READ"}
    assert may(acls, "group", "lake_stream") == {"DESCRIBE", "READ"}
    assert may(acls, "cluster", "kafka-cluster") == set()


def test_jobs_about_sales_write_their_topics() -> None:
    acls = list(of_sales(["sales"], ["lake_sales"]))
    assert may(acls, "topic", "sales") == {"CREATE", "DESCRIBE", "READ", "WRITE"}
    assert may(acls, "group", "lake_sales") == {"DESCRIBE", "READ"}
