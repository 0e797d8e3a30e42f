"""A table of a source, as the pipeline file describes it."""

from typing import Any

from spark_jobs.runtime.pipeline import Table


def table(
    keys: tuple[str, ...] = ("id",), delete: str = "soft", partition: Any = None, identity: str = "full"
) -> Table:
    return Table(
        database="lab",
        schema="public",
        table="t",
        topic="lab.public.t",
        epoch=0,
        keys=keys,
        partition=partition,
        delete=delete,
        replica_identity=identity,
        targets=(),
    )
