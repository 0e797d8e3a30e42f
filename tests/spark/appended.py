"""A Hudi table that is written in turns: by Hudi's DataFrame writer, and by the appender."""

from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from py4j.java_gateway import JavaObject
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from lake.config.definition import Database
from lake.config.environment import Environment
from lake.rendering.pipeline import pipeline as rendered
from spark_jobs.hudi import table_services, timeline
from spark_jobs.hudi.appender import NotPlain
from spark_jobs.hudi.table import META_COLUMNS, HudiTable
from spark_jobs.hudi.write_client import write_client
from spark_jobs.runtime.jvm import java, java_map
from spark_jobs.runtime.pipeline import Table, Target

LOCAL = Environment(name="local", root=Path(__file__).parents[2])
FORMAT = "yyyyMMddHHmmssSSS"


class Turns:
    """One table of its own folder, and the instants of its commits."""

    def __init__(
        self,
        spark: SparkSession,
        folder: Path,
        columns: str,
        key: tuple[str, ...] = ("id",),
        store: str = "file://",
        **settings: Any,
    ) -> None:
        self.spark = spark
        self.schema = spark.createDataFrame([], columns).schema
        self.source, target = definition(f"{store}{folder}", {"key": list(key), "types": ["mor"], **settings})
        self.path = target.path
        self.table = HudiTable(spark, self.source, target)
        self.target = self.table.target
        self.instants: list[str] = []
        self._appender: Any = None

    def general(self, rows: Iterable[tuple[Any, ...]], **position: Any) -> str:
        """A commit by Hudi's DataFrame writer."""
        self.table.commit(self.frame(rows), position, 0, [])
        self.instants.append(timeline.last_instant(self.spark, self.path))
        return self.instants[-1]

    def append(self, rows: Iterable[tuple[Any, ...]], **position: Any) -> str:
        """A commit by the appender, which stays the same from its first one on."""
        self._appender = self._appender or self.appender()
        self.instants.append(self.commit(self._appender, rows, **position))
        return self.instants[-1]

    def stage(self, rows: Iterable[tuple[Any, ...]] | DataFrame, **position: Any) -> str:
        """A commit by the appender with all executors."""
        self._appender = self._appender or self.appender()
        frame = rows if isinstance(rows, DataFrame) else self.frame(rows)
        entries = java_map(self.spark, "java.util.HashMap", timeline.metadata_options(position))
        self.instants.append(str(self._appender.commitInStage(frame._jdf, entries)))
        return self.instants[-1]

    def commit(self, appender: Any, rows: Iterable[tuple[Any, ...]], **position: Any) -> str:
        entries = java_map(self.spark, "java.util.HashMap", timeline.metadata_options(position))
        return str(appender.commit(self.internal(rows), entries))

    def appender(self, columns: str = "", **options: str) -> Any:
        """A new one. options: with dots as underscores, over those of the table."""
        given = {name.replace("__", "."): value for name, value in options.items()}
        schema = self.spark.createDataFrame([], columns).schema if columns else self.schema
        with closing(write_client(self.spark, self.target, given)) as client:
            config = client.getConfig()
        hadoop = self.spark._jsc.hadoopConfiguration()
        return java(self.spark, "lake.hudi.Appender")(config, hadoop, java_schema(self.spark, schema))

    def internal(self, rows: Iterable[tuple[Any, ...]]) -> JavaObject:
        """An iterator of Spark's internal rows."""
        found = self.frame(rows)._jdf.queryExecution().executedPlan().executeToIterator()
        return java(self.spark, "scala.collection.JavaConverters").asJavaIterator(found)

    def deliver(self, rows: Iterable[tuple[Any, ...]], **position: Any) -> None:
        """As the streaming job: by the appender, and by Hudi's own writer what is left to it."""
        given = list(rows)
        try:
            self.table.append(self.internal(given), position, 0, [])
        except NotPlain:
            self.table.commit(self.frame(given), position, 0, [])
        self.instants.append(timeline.last_instant(self.spark, self.path))

    def frame(self, rows: Iterable[tuple[Any, ...]]) -> DataFrame:
        return self.spark.createDataFrame(list(rows), self.schema)

    def plan_compaction(self) -> None:
        with closing(write_client(self.spark, self.target)) as client:
            table_services.plan_compaction(self.table, client)

    def compact(self) -> None:
        """Runs what is planned, and all that is to be done after it."""
        table_services.serve(self.table)

    def archive(self, keep: int) -> None:
        """Takes all commits but these out of the timeline, whatever readers need."""
        fewest = {"hoodie.cleaner.commits.retained": "1", "hoodie.keep.min.commits": str(keep)}
        with closing(
            write_client(self.spark, self.target, {**fewest, "hoodie.keep.max.commits": str(keep + 1)})
        ) as client:
            client.archive()

    def restart(self) -> None:
        """As after a crash: with all that the commits say, and no more."""
        self.table = HudiTable(self.spark, self.source, self.target)
        self._appender = None

    def rows(self, **options: str) -> list[tuple[Any, ...]]:
        """Without Hudi's own columns, in an order. options: of the read, with dots as double underscores."""
        given = {name.replace("__", "."): value for name, value in options.items()}
        found = self.spark.read.format("hudi").options(**given).load(self.path)
        return sorted((tuple(row)[META_COLUMNS:] for row in found.collect()), key=repr)

    def optimised(self) -> list[tuple[Any, ...]]:
        return self.rows(hoodie__datasource__query__type="read_optimized")

    def at(self, instant: str) -> list[tuple[Any, ...]]:
        return self.rows(as__of__instant=instant)

    def since(self, instant: str) -> list[tuple[Any, ...]]:
        kind = {"hoodie__datasource__query__type": "incremental"}
        return self.rows(**kind, hoodie__datasource__read__begin__instanttime=instant)

    @property
    def line(self) -> Any:
        return timeline.timeline(self.spark, self.path)

    @property
    def meta(self) -> Path:
        return Path(urlsplit(self.path).path) / ".hoodie"


def definition(folder: str, settings: dict[str, Any]) -> tuple[Table, Target]:
    content = rendered([Database.model_validate({"database": "lab", "tables": {"public.t": settings}})], LOCAL)
    entry = content["tables"][0]
    (one,) = entry.pop("targets")
    target = Target(one["type"], f"{folder}/{one['type']}", (), one["options"])
    return Table(**{**entry, "keys": tuple(entry["keys"]), "targets": (target,)}), target


def java_schema(spark: SparkSession, schema: StructType) -> Any:
    return java(spark, "org.apache.spark.sql.types.DataType").fromJson(schema.json())
