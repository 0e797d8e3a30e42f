"""What the query of a table does before it writes a batch."""

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

from spark_jobs.runtime.status import Progress
from spark_jobs.streaming.table_query import Batches


def test_a_gap_is_looked_for_once_before_the_first_batch() -> None:
    """Not at the start, which runs in the thread that keeps all tables: a Kafka that is away would hold it up."""
    asked: list[Any] = []
    table = SimpleNamespace(
        name="lab_mor.t",
        source=SimpleNamespace(topic="lab.public.t"),
        read_from=asked.append,
        refuse_gap=asked.append,
        metastore=SimpleNamespace(after_commit=lambda: None, failure=""),
    )
    broker: Any = SimpleNamespace(topic=lambda name: name, offsets=lambda name: SimpleNamespace(begin={0: 7}))
    writer: Any = SimpleNamespace(table=table, write=asked.append)
    slots: Any = SimpleNamespace(slot=nullcontext, await_next=lambda name: None)
    app: Any = SimpleNamespace(broker=broker, progress=Progress(), slots=slots)
    batches = Batches(app, writer)
    for batch in ("first", "second"):
        batches.write(batch, 0)  # type: ignore[arg-type]
    assert asked == ["lab.public.t", {0: 7}, "first", "lab.public.t", "second"]
