"""One side of a comparison: the rows of a lake table, or of the source, as key, hash and canonical texts."""

from typing import Dict, List, Optional, Sequence

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.utils import AnalysisException

from spark_jobs.events.flatten import ROW
from spark_jobs.hudi import timeline
from spark_jobs.parity import compare
from spark_jobs.runtime.pipeline import Table
from spark_jobs.sources.engine import Columns, ColumnType

DELETED = "__deleted"
ADDED = (DELETED, "__op", "__lsn", "_order")  # compared between the lake's own tables only
QUERY_TYPES = {"cow": "snapshot", "rt": "snapshot", "ro": "read_optimized"}
WIDER = {("int", "bigint"), ("float", "double")}  # altered in PostgreSQL, no new row yet
NAME_TRIES = 5
# A value whose canonical text is null must not equal NULL. The two sides have different ones: they are never equal.
UNREADABLE = {side: "a value that has no text ({})".format(side) for side in ("source", "lake")}
ROWS_PER_TASK = 250_000


# Rows without a key are compared as a multiset: the second one of two equal rows has the key of a second copy.
COPY = (
    "to_json(array(live_hash, CAST(row_number() OVER (PARTITION BY live_hash, deleted ORDER BY _order) AS string),"
    " if(deleted, 'deleted', NULL))) AS key"
)


class WrongType(Exception):
    """A lake column does not have the type that the map says."""


class LakeRows:
    """rows: key, hash, live_hash, deleted, _order, placeholders; full: these and texts (array<string>)."""

    def __init__(self, full: DataFrame, names: List[str]) -> None:
        self.names = names
        self.rows = full.drop("texts")
        self._full = full
        self._kept = self.rows

    @property
    def identified(self) -> DataFrame:
        """The rows, each with the key by which the lake itself knows it; for a table with a key they are the same."""
        if "row" not in self.rows.columns:
            return self.rows
        return self.rows.withColumn("key", F.to_json("row"))

    def keep(self) -> "LakeRows":
        """Reads the rows now, once for all checks that follow, without their texts.

        Otherwise Spark would choose the files at the first check. By then a compaction may have changed them, and the
        other side, which was planned before, can't show that.
        """
        # One task per core, not per file. Ten checks of a small table would take longer than reading with even these.
        self._kept = self.rows.coalesce(self.rows.sparkSession.sparkContext.defaultParallelism).persist()
        self.rows = self._kept.coalesce(1 + self._kept.count() // ROWS_PER_TASK)
        return self

    def release(self) -> None:
        self._kept.unpersist()

    def live(self) -> DataFrame:
        """The rows hashed over the source's columns alone; the hash of one that is soft-deleted is null."""
        return self.rows.select("key", F.expr("if(deleted, NULL, live_hash)").alias("hash"), "_order")

    def summary(self) -> Dict[str, int]:
        """How many rows are live, soft-deleted, hold a placeholder; how many keys there are."""
        kinds = {"live": "NOT deleted", "deleted": "deleted", "placeholders": "size(placeholders) > 0"}
        counts = ["count_if({}) AS {}".format(condition, name) for name, condition in kinds.items()]
        row = self.identified.selectExpr(*counts, "count(DISTINCT key) AS keys").collect()[0]
        return dict(row.asDict())

    def texts(self, spark: SparkSession, keys: List[str]) -> Dict[str, List[Optional[str]]]:
        """The canonical texts of some rows by key, in the order of names."""
        if not keys:
            return {}
        wanted = F.broadcast(spark.createDataFrame([(key,) for key in keys], "key string"))
        rows = compare.only_keys(self._full, wanted).select("key", "texts").collect()
        return {row["key"]: list(row["texts"]) for row in rows}

    def without_deleted(self, texts: Dict[str, List[Optional[str]]]) -> Dict[str, List[Optional[str]]]:
        """The texts() of live rows."""
        place = self.names.index(DELETED) if DELETED in self.names else None
        return {key: row for key, row in texts.items() if place is None or row[place] != "true"}


def of_target(spark: SparkSession, path: str, kind: str, table: Table, columns: Columns) -> LakeRows:
    """The present rows of the Hudi table at a path; none before its first commit.

    Raises WrongType when a column does not have the type that the map says.
    """
    stored = stored_rows(spark, path, kind) if timeline.written(spark, path) else no_rows(spark, columns)
    return of_lake(stored, table, columns)


def stored_rows(spark: SparkSession, path: str, kind: str) -> DataFrame:
    """kind: cow, rt or ro."""
    return spark.read.format("hudi").option("hoodie.datasource.query.type", QUERY_TYPES[kind]).load(path)


def no_rows(spark: SparkSession, columns: Columns) -> DataFrame:
    """The rows of a table with these columns before its first commit: none."""
    fields = ["`{}` {}".format(name, kind.lake) for name, kind in columns.items()]
    return spark.createDataFrame([], ", ".join(fields + ["__deleted string", "_order bigint", "__row string"]))


def of_lake(stored: DataFrame, table: Table, columns: Columns) -> LakeRows:
    """The rows of a lake table. A column that the lake does not have yet counts as null in all its rows."""
    kinds = dict(stored.dtypes)
    texts = [_lake_text(kinds, name, kind) for name, kind in columns.items()]
    texts += [F.col(name).cast("string") if name in kinds else F.lit(None).cast("string") for name in ADDED]
    deleted = F.coalesce(F.col("__deleted") == "true", F.lit(False))
    placeholders = compare.placeholder_names([(name, kinds[name]) for name in columns if name in kinds], deleted)
    facts = [deleted.alias("deleted"), placeholders.alias("placeholders")]
    facts += [F.array(F.col(ROW)).alias("row")] if table.without_key else []
    return _side(stored.select(F.array(*texts).alias("texts"), "_order", *facts), table, columns, ADDED)


def of_source(texts: DataFrame, table: Table, columns: Columns, order: str = "CAST(NULL AS bigint)") -> LakeRows:
    """The rows of the source. texts: c0, c1, ... as Snapshot.rows() reads them; order: SQL of their `_order`."""
    given = [F.col("c{}".format(index)) for index in range(len(columns))]
    canonical = [_readable(one, kind.source(one), "source") for one, kind in zip(given, columns.values())]
    facts = order + " AS _order", "false AS deleted", "CAST(array() AS array<string>) AS placeholders"
    return _side(texts.select(F.array(*canonical).alias("texts"), *map(F.expr, facts)), table, columns, ())


def _side(rows: DataFrame, table: Table, columns: Columns, added: Sequence[str]) -> LakeRows:
    """rows: texts, _order, deleted, placeholders. A JSON array is one text of several, which no separator confuses."""
    names = [*columns, *added]
    live = "md5(to_json(slice(texts, 1, {}))) AS live_hash".format(len(columns))
    hashed = rows.selectExpr("*", "md5(to_json(texts)) AS hash", live)
    if table.without_key:
        return LakeRows(hashed.selectExpr("*", COPY), names)
    keys = ", ".join("texts[{}]".format(names.index(name)) for name in table.keys)
    return LakeRows(hashed.selectExpr("*", "to_json(array({})) AS key".format(keys)), names)


def _lake_text(kinds: Dict[str, str], name: str, kind: ColumnType) -> Column:
    if name not in kinds:
        return F.lit(None).cast("string")
    if kinds[name] != kind.lake and not _fits(kinds[name], kind.lake):
        raise WrongType("column {} is {} in the lake, the type map says {}".format(name, kinds[name], kind.lake))
    column = F.col("`{}`".format(name))
    return _readable(column, kind.text(column if kinds[name] == kind.lake else column.cast(kind.lake)), "lake")


def _readable(value: Column, text: Column, side: str) -> Column:
    return F.when(value.isNotNull(), F.coalesce(text, F.lit(UNREADABLE[side])))


def _fits(found: str, wanted: str) -> bool:
    decimals = found.startswith("decimal(") and wanted.startswith("decimal(")
    return (found, wanted) in WIDER or (decimals and found.split(",")[1] == wanted.split(",")[1])


def name_problem(spark: SparkSession, name: str, path: str, kind: str, rows: int) -> Optional[str]:
    """Why the table of that name is not the one at the path, or None. rows: the number of rows by path.

    While writes continue, the number by name lies between the numbers by path before and after.
    """
    counts = [rows]
    try:
        for _ in range(NAME_TRIES):
            spark.catalog.refreshTable(name)  # Spark keeps the plan of a name, and with it the list of files
            by_name = int(spark.table(name).count())
            if by_name == counts[-1]:
                return None
            counts.append(int(stored_rows(spark, path, kind).count()))
            if min(counts) <= by_name <= max(counts):
                return None
    except AnalysisException as problem:
        return "cannot be queried by name: {}".format(str(problem).splitlines()[0])
    return "has {} rows by name and {} by path".format(by_name, counts[-1])
