"""Data validation: compares PostgreSQL at one position with the lake that covers it, all rows, column by column.

    spark-submit spark_jobs/verify.py --config <pipeline.json> --output <result.json>
        --jdbc-url jdbc:postgresql://<host>:<port> --user <user> [--table moma.artists]... [--timeout-s 180]

The password is read from LAKE_VERIFY_PASSWORD. The exit code is 0 on equality, 1 on a difference, 2 on bad input.
It works while writes continue: a key that differs is compared again at a later position until it agrees, or until its
row in the lake no longer changes.
"""

import time
from contextlib import closing
from functools import partial
from multiprocessing.pool import ThreadPool
from typing import Any, Callable, Dict, List

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from spark_jobs.archive import files as archive
from spark_jobs.archive.form import form_of
from spark_jobs.kafka.admin import Broker
from spark_jobs.kafka.lag import missing_offsets
from spark_jobs.parity.coverage import Ends, captured
from spark_jobs.parity.findings import SHOWN
from spark_jobs.parity.lake_rows import WrongType
from spark_jobs.parity.sessions import Sessions
from spark_jobs.parity.table_check import TableCheck
from spark_jobs.quarantine import table as quarantine
from spark_jobs.runtime import batch_job
from spark_jobs.runtime.errors import root_cause
from spark_jobs.runtime.pipeline import Pipeline, add_names, chosen, given_names, read_pipeline
from spark_jobs.runtime.waiting import Deadline, NotCovered, print_progress, wait_until
from spark_jobs.sources.engine import NoTable, Snapshot, Source, Unmapped, engine

AT_ONCE = 4  # tables: while one of them is planned or waits for a file, others are read
RETRIES = 5
MOMENT_S = 10.0
# What Hudi says of a file that the cleaner deleted meanwhile (docs/adr/0020-readers-beside-the-cleaner.md). The second
# is of a log file: HoodieLogBlock.inflate() of 0.14 and 0.15 calls itself after an IOException, which is lost by that.
DELETED = ("FileNotFoundException", "Block has already been inflated")
FAILED = (Py4JJavaError, PySparkException)
WHERE = {NoTable: "source", Unmapped: "type map", WrongType: "type map"}


class Check:
    """All tables of one run. Databases are compared at the same time, and some of their tables."""

    def __init__(self, spark: SparkSession, pipeline: Pipeline, args: Any) -> None:
        self._spark = spark
        self._pipeline = pipeline
        self._args = args
        self._retries: Dict[str, int] = {}
        self._waits = True  # until the time to wait for what lags behind is over
        self._left_out: Dict[str, List[str]] = {}
        self._broker = Broker(spark, pipeline.kafka)
        self._workers = ThreadPool(AT_ONCE)
        self.checks: List[TableCheck] = []

    def run(self, checks: List[TableCheck]) -> Dict[str, Any]:
        """Rounds over the tables of each database that are not settled yet; then their archives."""
        self.checks, began = checks, time.monotonic()
        databases = sorted({check.table.database for check in checks})
        with closing(self._broker), ThreadPool(len(databases)) as rounds:
            rounds.map(self._check_database, databases, 1)
        return {
            "equal": all(check.result["equal"] for check in checks),
            "seconds": round(time.monotonic() - began, 1),
            "tables": {check.name: check.result for check in checks},
            "left_out": self._left_out,
        }

    def _check_database(self, database: str) -> None:
        checks = [one for one in self.checks if one.table.database == database]
        while any(not check.done for check in checks):
            self._round(database, [one for one in checks if not one.done])
        self._workers.map(self._check_rest, checks, 1)

    def _deadline(self) -> Deadline:
        """The time is given once, to all that lags behind. What comes later has a moment to show that it does not."""
        given = self._args.timeout_s
        return Deadline(time.monotonic() + (given if self._waits else min(given, MOMENT_S)))

    def _note_left_out(self, database: str, tables: List[str]) -> None:
        """The tables of the source that nobody compares, if all captured tables of the database are compared."""
        captured = {one.source_name for one in self._pipeline.tables if one.database == database}
        chosen = {check.table.source_name for check in self.checks if check.table.database == database}
        others = sorted(set(tables) - captured)
        if others and captured == chosen:
            self._left_out[database] = others

    def _round(self, database: str, checks: List[TableCheck]) -> None:
        """One look at the tables, at one position of the source."""
        first, server = checks[0].table, self._pipeline.server(database, self._args.jdbc_url)
        source = engine(first.engine).source(self._spark, server, first, self._args.user)
        with closing(source.snapshot()) as snapshot:
            if database not in self._left_out:
                self._note_left_out(database, snapshot.tables())
            print_progress("{} at {}: {} tables".format(database, snapshot.position, len(checks)))
            try:
                begun = [one for one in checks if self._tried(one, partial(one.begin, source, snapshot))]
                self._look(source, snapshot, begun)
            finally:
                for check in checks:
                    check.end()

    def _look(self, source: Source, snapshot: Snapshot, checks: List[TableCheck]) -> None:
        deadline, tables = self._deadline(), [one.table for one in checks]
        try:
            ends = captured(self._broker, source, snapshot.position, tables, deadline)
        except NotCovered as problem:
            for check in checks:
                self._not_covered(check, problem)
        else:
            self._workers.map(partial(self._look_at, snapshot, ends, deadline), checks, 1)

    def _look_at(self, snapshot: Snapshot, ends: Dict[str, Ends], deadline: Deadline, check: TableCheck) -> None:
        if self._tried(check, partial(check.cover, ends, snapshot, deadline)):
            if self._tried(check, partial(check.look, snapshot)):
                print_progress("{} round {}: {}".format(check.name, check.result["rounds"], verdict(check)))

    def _tried(self, check: TableCheck, work: Callable[[], None]) -> bool:
        """True if the work was done. If not, the table has failed, or its round is repeated."""
        try:
            work()
            return True
        except NotCovered as problem:
            self._not_covered(check, problem)
        except tuple(WHERE) as problem:
            check.fail(WHERE[type(problem)], str(problem))
        except FAILED as problem:
            self._failed(check, problem)
        return False

    def _not_covered(self, check: TableCheck, problem: NotCovered) -> None:
        self._waits = False
        check.fail("lake", str(problem))

    def _failed(self, check: TableCheck, problem: Exception) -> None:
        """A deleted file is no fault of the lake: the round is repeated. Any other problem fails the table."""
        self._retries[check.name] = self._retries.get(check.name, 0) + 1
        said = "{} {}".format(problem, getattr(problem, "stackTrace", ""))
        is_deleted = any(words in said for words in DELETED)
        if is_deleted and self._retries[check.name] <= RETRIES:
            print_progress("{}: a file was deleted meanwhile, repeating: {}".format(check.name, root_cause(problem)))
        else:
            check.fail("proof", "could not be compared: {}".format(root_cause(problem)))

    def _check_rest(self, check: TableCheck) -> None:
        """Checks the quarantine and the archive, which decide, too."""
        try:
            self._check_quarantine(check)
            if check.result["rounds"]:
                self._check_archive(check)
        except FAILED as problem:
            check.fail("proof", "quarantine and archive could not be checked: {}".format(root_cause(problem)))
        check.result["equal"] = check.result["equal"] and not check.result["differences"]

    def _check_quarantine(self, check: TableCheck) -> None:
        """Messages that were set aside are missing until they are replayed or dropped."""
        target = self._pipeline.quarantine.get(check.table.database)
        lines = quarantine.missing_messages(self._spark, target, check.table)
        rest = ["and {} more messages".format(len(lines) - SHOWN)] if len(lines) > SHOWN else []
        for detail in lines[:SHOWN] + rest:
            check.result["differences"].append({"where": "quarantine", "detail": detail})
        check.result["quarantined"] = len(lines)

    def _check_archive(self, check: TableCheck) -> None:
        missing = self._missing_in_archive(check)
        form = form_of(check.table)
        files = archive.files_of(check.spark, self._pipeline.bronze["path"], check.table.topic, form)
        kafka = self._broker.offsets(check.table.topic).begin
        begin = {**kafka, **archive.begins(check.spark, self._pipeline.bronze["path"], check.table.topic)}
        for detail in archive.faults(files, begin) + ([missing] if missing else []):
            check.result["differences"].append({"where": "bronze", "detail": detail})
        check.result["bronze"] = {"files": len(files), "rows": sum(file.rows for file in files)}

    def _missing_in_archive(self, check: TableCheck) -> str:
        """The offsets that are not archived in time, or ''. The archive has a slower trigger than the tables."""
        deadline = self._deadline()
        place, end = (self._pipeline.bronze["path"], check.table.topic, form_of(check.table)), check.end_offsets
        try:
            wait_until(lambda: missing_offsets("bronze", archive.reached(check.spark, *place), end), deadline)
        except NotCovered as missing:
            self._waits = False
            return str(missing)
        return ""


def verdict(check: TableCheck) -> str:
    """The end of a round, for the progress line."""
    if not check.done:
        return "some keys differ, comparing again"
    return "equal" if check.result["equal"] else "different"


def prove(spark: SparkSession, args: Any) -> Dict[str, Any]:
    """The comparison of all chosen tables."""
    pipeline, sessions = read_pipeline(spark, args.config), Sessions(spark)
    checks = [TableCheck(sessions, table, args.timeout_s) for table in chosen(pipeline, given_names(args))]
    return Check(spark, pipeline, args).run(checks)


if __name__ == "__main__":
    options = batch_job.parser("verify", __doc__, "--output", "--config", "--jdbc-url", "--user")
    add_names(options)
    options.add_argument("--timeout-s", type=float, default=180.0)
    batch_job.run(options, prove, lambda content: int(not content["equal"]))
