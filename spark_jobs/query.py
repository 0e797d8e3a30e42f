"""One SQL statement over the lake's tables: now, as of a moment, or what changed between two.

    spark-submit spark_jobs/query.py --config <pipeline.json> --output <result.json> --sql "select ..."
        [--as-of MOMENT | --since MOMENT [--until MOMENT]] [--limit ROWS]

It only reads; the exit code for anything else is 2. A MOMENT is a Hudi instant, an ISO 8601 time, or a position of the
source (in PostgreSQL an LSN). --as-of reads each table as it was then, --since what changed afterwards.
"""

import json
from decimal import Decimal
from typing import Any, Dict, List, Tuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, DecimalType, MapType, StructType

from spark_jobs.hudi import time_travel
from spark_jobs.runtime import batch_job
from spark_jobs.runtime.batch_job import Refused
from spark_jobs.runtime.pipeline import Pipeline, Target, read_pipeline
from spark_jobs.sql import parse
from spark_jobs.sql.refusals import refusals

LATEST = "9" * 17
SUBSTITUTION = "spark.sql.variable.substitute"
TIME = "yyyy-MM-dd'T'HH:mm:ss.SSSSSS"  # Spark's own has milliseconds
AS_JSON = {"ignoreNullFields": "false", "timestampFormat": TIME + "XXX", "timestampNTZFormat": TIME}


def instants(spark: SparkSession, past: Dict[str, Target], args: Any) -> Dict[str, str]:
    """The instant by path of a table: it is read as of this instant, or since. Raises time_travel.NoSuchMoment."""
    since = args.since is not None  # changes are read after it: then it may be a position that is not reached yet
    given = args.since if since else args.as_of
    return {one.path: time_travel.instant_of(spark, one.path, given, one.engine, since) for one in past.values()}


def travelled(spark: SparkSession, past: Dict[str, Target], kept: Dict[str, str], args: Any) -> str:
    """The statement with each table in it replaced by a view of its past. past: named(); kept: their instants."""
    for name, target in past.items():
        rows_of_the_past(spark, name, target, kept[target.path], args).createOrReplaceTempView(_view(name))
    found = parse.relations(parse.parsed(spark, args.sql), args.sql)
    return parse.replaced(args.sql, found, [_view(".".join(one.name)) for one in found])


def named(spark: SparkSession, text: str, pipeline: Pipeline) -> Dict[str, Target]:
    """The tables of a statement, by name. Raises Refused for a table of others: it would be read as of now."""
    known = {tuple(name.lower().split(".")): (name.lower(), target) for name, target in tables(pipeline).items()}
    found = [one.name for one in parse.relations(parse.parsed(spark, text), text)]
    for name in found:
        if name not in known:
            what = "{} is not a table of the lake, and only a table of the lake can be read as of a moment"
            raise Refused(what.format(".".join(name)))
    if not found:
        raise Refused("a moment is given, but the statement names no table of the lake")
    return dict(known[name] for name in found)


def tables(pipeline: Pipeline) -> Dict[str, Target]:
    """Hive name to target."""
    return {name: target for table in pipeline.tables for target in table.targets for name in target.hive}


def _view(name: str) -> str:
    return "`{}`".format(name.replace(".", "__"))


def rows_of_the_past(spark: SparkSession, name: str, target: Target, instant: str, args: Any) -> DataFrame:
    reader = spark.read.format("hudi")
    read_optimised = target.type == "mor" and name.endswith("_ro")
    if args.since is None:
        kind = "read_optimized" if read_optimised else "snapshot"
        return reader.option("hoodie.datasource.query.type", kind).option("as.of.instant", instant).load(target.path)
    if read_optimised:  # Hudi would answer with the newest rows
        raise Refused("{} does not know what changed; query {}_rt".format(name, name[: -len("_ro")]))
    options = {
        "hoodie.datasource.query.type": "incremental",
        "hoodie.datasource.read.begin.instanttime": instant,
        "hoodie.datasource.read.end.instanttime": LATEST,
    }
    if args.until is not None:
        until = time_travel.instant_of(spark, target.path, args.until, target.engine)
        options["hoodie.datasource.read.end.instanttime"] = until
    return reader.options(**options).load(target.path)


def result(rows: DataFrame, limit: int) -> Dict[str, Any]:
    """Columns, types and at most `limit` rows, each a list of values as in JSON. `more`: True if there are more rows.

    A decimal is the text of all its digits, a time has microseconds.
    """
    fields = rows.schema.fields
    # In the objects of JSON columns are called by their places, since two columns may have one name.
    numbered = rows.limit(limit + 1).toDF(*[str(place) for place in range(len(fields))])
    first = numbered.select(F.to_json(F.struct("*"), AS_JSON).alias("json")).collect()
    return {
        "columns": [field.name for field in fields],
        "types": [field.dataType.simpleString() for field in fields],
        "rows": [_values(row["json"], fields) for row in first[:limit]],
        "more": len(first) > limit,
    }


def _values(text: str, fields: List[Any]) -> List[Any]:
    row = json.loads(text, parse_float=Decimal, object_pairs_hook=_object)
    return [_exact(row[str(place)], field.dataType) for place, field in enumerate(fields)]


def _object(pairs: List[Tuple[str, Any]]) -> Dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise Refused("two fields of a struct have the same name; give them different names")
    return found


def _exact(value: Any, kind: DataType) -> Any:
    """The value as JSON holds it without loss: decimals as texts, because readers may take numbers as 64 bits."""
    if value is None:
        return None
    if isinstance(kind, StructType):
        return {field.name: _exact(value[field.name], field.dataType) for field in kind.fields}
    if isinstance(kind, ArrayType):
        return [_exact(one, kind.elementType) for one in value]
    if isinstance(kind, MapType):
        return {key: _exact(one, kind.valueType) for key, one in value.items()}
    if isinstance(kind, DecimalType):
        return "{:f}".format(Decimal(value))
    return float(value) if isinstance(value, Decimal) else value


def answer(spark: SparkSession, args: Any) -> Dict[str, Any]:
    """The result of the statement. Raises Refused when it writes or Spark refuses it, and for an unknown moment."""
    spark.conf.set(SUBSTITUTION, "false")  # the statement is read as it was written, ${...} too
    with refusals(time_travel.NoSuchMoment):
        parse.refuse_writing(spark, parse.parsed(spark, args.sql))
        if args.as_of is None and args.since is None:
            return result(spark.sql(args.sql), args.limit)
        past = named(spark, args.sql, read_pipeline(spark, args.config))
        kept = instants(spark, past, args)
        found = result(spark.sql(travelled(spark, past, kept, args)), args.limit)
        # The cleaner may have deleted files before they were listed, which nothing reports.
        for path, instant in kept.items():
            time_travel.instant_of(spark, path, instant)
        return found


if __name__ == "__main__":
    options = batch_job.parser("sql", __doc__, "--output", "--config", "--sql")
    for moment in ("--as-of", "--since", "--until"):
        options.add_argument(moment, type=str.strip)
    options.add_argument("--limit", type=int, default=1000)
    batch_job.run(options, answer)
