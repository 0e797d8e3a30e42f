"""A lake with tables that change at a steady rate."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from benchmarks.bench_lake import DATABASE, BenchLake, bench_lake
from benchmarks.writer import SteadyWriter, ddl

PER_SECOND = 100.0  # changes to each table
SETTINGS = {"key": ["id"], "types": ["mor"], "buckets": 1}
GENERAL = {"appender": False}  # as silver: the control, in which every batch takes the general road


def names_of(tables: int) -> list[str]:
    """The names of so many tables."""
    return [f"orders{n}" for n in range(tables)]


@contextmanager
def steady_lake(
    tables: int,
    per_second: float = PER_SECOND,
    silver: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] = SETTINGS,
    request_log: bool = False,
) -> Iterator[tuple[BenchLake, dict[str, SteadyWriter]]]:
    """A lake with this number of tables, and their writers by table name.

    silver, request_log: as of bench_lake(). settings: of each table, in the definition; by default merge-on-read
    without partitions.
    """
    names = names_of(tables)
    with bench_lake(silver, request_log) as lake:
        lake.capture({name: ddl(name) for name in names}, dict(settings))
        writers = {name: SteadyWriter(lake.home.dsn(DATABASE), name, per_second) for name in names}
        for writer in writers.values():
            writer.start()
        try:
            yield lake, writers
        finally:
            for writer in writers.values():
                writer.stop()
