"""One SQL statement over the lake's tables: now, as of a moment, or what changed between two.

    spark-submit spark_jobs/query.py --config <pipeline.json> --output <result.json> --sql "select ..."
        [--as-of MOMENT | --since MOMENT [--until MOMENT]]

A MOMENT is a Hudi instant, an ISO 8601 time or a PostgreSQL LSN.
"""

import argparse
import json
import re
import sys
from typing import Any, Dict, List

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.utils import AnalysisException, ParseException

from spark_jobs import history, once
from spark_jobs.once import Refused
from spark_jobs.pipeline import Pipeline, Target, read_pipeline

LATEST = "9" * 17
KEEP_NULLS = "spark.sql.jsonGenerator.ignoreNullFields"


def instants(spark: SparkSession, past: Dict[str, Target], args: Any) -> Dict[str, str]:
    """By path of a table, the instant that it is read as of, or since. Raises history.NoSuchMoment."""
    moment = args.as_of or args.since
    return {target.path: history.instant_of(spark, target.path, moment) for target in past.values()}


def travelled(spark: SparkSession, past: Dict[str, Target], kept: Dict[str, str], args: Any) -> str:
    """The statement with each of these tables in it replaced by a view of its past. kept: their instants."""
    statement = args.sql
    for name, target in past.items():
        view = name.replace(".", "__")
        _past(spark, name, target, kept[target.path], args).createOrReplaceTempView(view)
        statement = _pattern(name).sub(view, statement)
    return str(statement)


def named(statement: str, pipeline: Pipeline) -> Dict[str, Target]:
    """The lake tables of a statement."""
    return {name: target for name, target in tables(pipeline).items() if _pattern(name).search(statement)}


def _pattern(name: str) -> Any:
    return re.compile(r"(?<![\w.`]){}(?![\w`])".format(re.escape(name)), re.IGNORECASE)


def tables(pipeline: Pipeline) -> Dict[str, Target]:
    """Hive name to target."""
    return {name: target for table in pipeline.tables for target in table.targets for name in target.hive}


def _past(spark: SparkSession, name: str, target: Target, instant: str, args: Any) -> DataFrame:
    reader = spark.read.format("hudi")
    if args.since:
        options = {
            "hoodie.datasource.query.type": "incremental",
            "hoodie.datasource.read.begin.instanttime": instant,
            "hoodie.datasource.read.end.instanttime": _until(spark, target, args.until),
        }
        return reader.options(**options).load(target.path)
    kind = "read_optimized" if name.endswith("_ro") else "snapshot"
    return reader.option("hoodie.datasource.query.type", kind).option("as.of.instant", instant).load(target.path)


def _until(spark: SparkSession, target: Target, until: Any) -> str:
    return history.instant_of(spark, target.path, until) if until else LATEST


def result(rows: DataFrame, limit: int) -> Dict[str, Any]:
    """Columns, types and at most `limit` rows as JSON values; `more` says whether there were others."""
    first = rows.limit(limit + 1).toJSON().collect()
    return {
        "columns": rows.columns,
        "types": [kind for _, kind in rows.dtypes],
        "rows": [json.loads(row) for row in first[:limit]],
        "more": len(first) > limit,
    }


def main(argv: List[str]) -> int:
    """Runs the statement and writes the result file; 2 when the statement or the moment is refused."""
    args = _parser().parse_args(argv)
    return once.run("sql", args.output, lambda spark: answer(spark, args))


def answer(spark: SparkSession, args: Any) -> Dict[str, Any]:
    """The result of the statement. Raises Refused for a statement that Spark refuses and for an unknown moment."""
    spark.conf.set(KEEP_NULLS, "false")
    try:
        past = named(args.sql, read_pipeline(spark, args.config)) if args.as_of or args.since else {}
        kept = instants(spark, past, args)
        found = result(spark.sql(travelled(spark, past, kept, args)), args.limit)
        for path, instant in kept.items():  # the cleaner may have come before files were listed, and not be noticed
            history.instant_of(spark, path, instant)
        return found
    except (AnalysisException, ParseException, history.NoSuchMoment) as error:
        raise Refused(str(error).strip().splitlines()[0]) from None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--config", required=True, help="the rendered pipeline file")
    parser.add_argument("--output", required=True, help="where the result goes, any path that Hadoop writes")
    parser.add_argument("--sql", required=True)
    parser.add_argument("--as-of", help="read every lake table as it was at this moment")
    parser.add_argument("--since", help="read what changed after this moment")
    parser.add_argument("--until", help="with --since: and not after this one")
    parser.add_argument("--limit", type=int, default=1000)
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
