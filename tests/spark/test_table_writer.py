"""A batch that can't be written as it is: with too many bytes it is written in parts."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from spark_jobs.events.writer_schemas import WriterSchemas
from spark_jobs.streaming.apply_batch import Oversized, apply_batch
from tests.poisoned import OURS, batch, message
from tests.spark.hudi_lab import Lab

pytestmark = pytest.mark.usefixtures("no_metastore")
NAMES = ["a" * 100, "b" * 100, "c"]


@pytest.mark.parametrize(("size", "commits"), [(10**6, 1), (150, 2)])
def test_a_batch_is_written_in_parts_when_it_has_too_many_bytes(
    spark: SparkSession, tmp_path: Path, size: int, commits: int
) -> None:
    lab = Lab(spark, tmp_path)
    lab.topic = batch(spark, *[message(OURS, id=number, name=name) for number, name in enumerate(NAMES)], first=10)
    writer = lab.writer(lab.table.targets[0], part_bytes=size)
    writer.write(lab.topic)
    assert lab.rows() == dict(enumerate(NAMES))
    assert (writer.table.schedule.unserved.commits, writer.table.reached["offsets"]) == (commits, {"0": 13})


def test_a_batch_of_too_many_bytes_is_refused_as_a_whole(spark: SparkSession, tmp_path: Path) -> None:
    lab = Lab(spark, tmp_path)
    messages = batch(spark, message(OURS, id=1, name="a" * 100), message(OURS, id=2, name="b"))
    table = lab.writers[0].table
    with pytest.raises(Oversized, match=r"lab_mor\.t: a batch of 1\d\d bytes"):
        apply_batch(messages, table, WriterSchemas(lab.registry, lab.table), limit=100)
    assert table.position == {}
