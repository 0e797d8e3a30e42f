"""The position of a table in its topic: what a batch makes of it, and topics that can't be read on."""

from dataclasses import replace
from typing import Any

import pytest

from spark_jobs.events.batch import Batch
from spark_jobs.hudi.source_offsets import TopicChanged, following, refuse_changed, refuse_gap
from spark_jobs.kafka.admin import Topic
from tests.source_table import table

HELD = {"schema_id": 9, "epoch": 0, "offsets": {"0": 5}}
NO_MESSAGES: Any = None


def test_what_is_said_of_a_batch() -> None:
    partitions = [
        {"ids": [3, 9], "changes": 1, "committed_ms": [50, 60]},
        {"ids": [3], "changes": 4, "committed_ms": [10, 20]},
        {"ids": [4], "changes": 0, "committed_ms": None},
    ]
    assert Batch(NO_MESSAGES, partitions).writers == [3, 4, 9]
    assert Batch(NO_MESSAGES, partitions).committed_ms == [10, 20]
    assert Batch(NO_MESSAGES, partitions[2:]).committed_ms == []


def test_a_topic_that_was_made_anew_is_not_read_on() -> None:
    refuse_changed(HELD, table(), Topic("first", 1))  # of a commit before ids were known
    held = {**HELD, "topic_id": "first"}
    for same in (Topic("first", 1), Topic("", 0)):
        refuse_changed(held, table(), same)
    with pytest.raises(TopicChanged, match=r"re-created.*write epoch: 1 for the table in databases/lab.yaml"):
        refuse_changed(held, table(), Topic("second", 1))
    refuse_changed(held, replace(table(), epoch=1), Topic("second", 1))


def test_a_topic_that_got_partitions_is_not_read_on() -> None:
    """A key that moved begins again at offset 0: its changes would look older than what is stored."""
    with pytest.raises(TopicChanged, match=r"has 3 partitions, not 1.*write epoch: 1"):
        refuse_changed(HELD, table(), Topic("first", 3))
    refuse_changed(HELD, replace(table(), partitions=3), Topic("first", 3))


def test_what_kafka_deleted_before_it_was_read_is_told_without_a_checkpoint() -> None:
    for there in ({0: 0}, {0: 5}, {}):
        refuse_gap(HELD, table(), there)
    with pytest.raises(TopicChanged, match=r"partition 0: offsets 5 to 6 were deleted before they were read"):
        refuse_gap(HELD, table(), {0: 7})
    refuse_gap(HELD, replace(table(), epoch=1), {0: 7})


def test_a_new_epoch_knows_no_offset_of_the_old_one() -> None:
    """A partition without a message yet would count as read."""
    held = {"epoch": 0, "offsets": {"0": 5, "1": 9}, "lsn": 7}
    facts = {"partition": 0, "offset": 1, "lsn": 8, "last_id": 3, "messages": 2, "changes": 0, "committed_ms": []}
    read = Batch(NO_MESSAGES, [facts])
    assert following(held, table(), "first", read, read, {})["offsets"] == {"0": 2, "1": 9}
    assert following(held, replace(table(), epoch=1), "first", read, read, {})["offsets"] == {"0": 2}
