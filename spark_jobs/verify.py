"""The proof: PostgreSQL at one position and the lake that covers it hold the same rows, column by column.

    spark-submit spark_jobs/verify.py --config <pipeline.json> --output <result.json>
        --jdbc-url jdbc:postgresql://<host>:<port> --user <user> [--tables moma.artists,...] [--timeout-s 180]

The password is read from LAKE_VERIFY_PASSWORD. The exit code is 0 on equality, 1 on a difference, 2 on bad input.
It works while writes go on: a key that differs is looked at again at a later position until either it agrees or
both of its versions have stopped moving.
"""

import argparse
import json
import sys
import time
from typing import Any, Dict, List, Optional, Tuple

from pyspark.sql import SparkSession

from spark_jobs import archive, broker, commits, coverage, lake_rows, once, parity, quarantine
from spark_jobs.coverage import Deadline, NotCovered, tell
from spark_jobs.lake_rows import LakeRows
from spark_jobs.once import Refused
from spark_jobs.parity import Found
from spark_jobs.pg_types import PgType, Unmapped, pg_type
from spark_jobs.pipeline import Pipeline, Table, read_pipeline
from spark_jobs.source import Moment, Source, literal, quoted, source_of

ROUNDS = 8
KEYS_PER_ROUND = 1000  # so many differing keys are looked up again by key, more by reading the whole table again
SHOWN = 20


class TableProof:
    """The comparison of one table over its rounds, and its part of the result."""

    def __init__(self, spark: SparkSession, table: Table) -> None:
        self._spark = spark
        self.table = table
        self.name = "{}.{}.{}".format(table.database, table.schema, table.table)
        self.result = {
            "equal": False,
            "rounds": 0,
            "rows": {},
            "differences": [],
            "unsettled": [],
        }  # type: Dict[str, Any]
        self.done = False
        self.end = {}  # type: Dict[int, int]
        self._before = {}  # type: Dict[str, Found]
        self._keys = None  # type: Optional[List[str]]

    def look(self, moment: Moment) -> None:
        """One round at one source position, which the lake covers."""
        first = self.result["rounds"] == 0
        self.result.update(rounds=self.result["rounds"] + 1, lsn=moment.lsn)
        names, types = self._columns(moment)
        sides = self._sides(moment, names, types)
        if first:
            self._check_lake(sides)
        found = {pair: parity.differing(*frames, limit=KEYS_PER_ROUND) for pair, frames in pairs(sides).items()}
        self._conclude(found, sides)
        for side in sides.values():
            side.release()

    def fail(self, what: str, detail: str) -> None:
        """Ends the proof of this table with a difference that is no row."""
        self.result["differences"].append({"where": what, "detail": detail})
        self.done = True

    def _columns(self, moment: Moment) -> Tuple[List[str], List[PgType]]:
        columns = moment.columns(self.table.schema + "." + self.table.table)
        return [column.name for column in columns], [pg_type(column) for column in columns]

    def _sides(self, moment: Moment, names: List[str], types: List[PgType]) -> Dict[str, LakeRows]:
        sides = {}  # type: Dict[str, LakeRows]
        for target in self.table.targets:
            # The read-optimised view first: what it shows must be explained by a later state of the table.
            kinds = ["ro", "rt"] if target.type == "mor" else ["cow"]
            for kind in kinds:
                sides[kind] = self._kept(lake_rows.of_target(self._spark, target.path, kind, self.table, names, types))
        qualified = self.table.schema + "." + self.table.table
        texts = moment.rows(qualified, names, types, self._condition(names, types))
        sides["source"] = self._kept(lake_rows.of_source(texts, self.table, names, types))
        return sides

    def _kept(self, side: LakeRows) -> LakeRows:
        side.rows = parity.only_keys(self._spark, side.rows, self._keys)
        return side.keep()

    def _condition(self, names: List[str], types: List[PgType]) -> Optional[str]:
        """Rows that can have one of the wanted keys: chosen in PostgreSQL by the first key column."""
        if self._keys is None:
            return None
        kind = types[names.index(self.table.keys[0])]
        values = sorted({json.loads(key)[0] for key in self._keys})
        text = kind.sql.replace("{x}", quoted(self.table.keys[0]))
        return "({}) IN ({})".format(text, ", ".join(literal(value) for value in values))

    def _check_lake(self, sides: Dict[str, LakeRows]) -> None:
        found = {name: self._read(name, side) for name, side in sides.items()}
        self.result["rows"] = {name: numbers["live"] for name, numbers in found.items()}
        self.result["deleted"] = {name: found[name]["deleted"] for name in ("cow", "rt") if name in found}
        if "ro" in sides:
            self._check_lag(sides["rt"], sides["ro"])
        for name in sorted(set(sides) - {"source"}):
            self._check_side(name, sides[name], found[name])
        self._check_names(found)

    def _read(self, name: str, side: LakeRows) -> Dict[str, int]:
        numbers = side.summary()
        tell("{}: {} rows of {}".format(self.name, numbers["live"] + numbers["deleted"], name))
        return numbers

    def _check_side(self, name: str, side: LakeRows, found: Dict[str, int]) -> None:
        # Until its old partition is compacted, ro still shows a moved row where it was, too (case A18).
        moving = name == "ro" and self.result["ro_behind"] > 0
        if found["keys"] < found["live"] + found["deleted"] and not moving:
            for key, count in parity.duplicates(side.rows, SHOWN).items():
                self._differ(name, "{} rows have this key".format(count), key)
        if found["placeholders"]:
            for key, columns in parity.placeholders(side.rows, SHOWN).items():
                self._differ(name, "{} holds {}".format(", ".join(columns), parity.PLACEHOLDER), key)

    def _check_lag(self, newer: LakeRows, older: LakeRows) -> None:
        self.result["ro_behind"], impossible = parity.lag(newer.rows, older.rows)
        if impossible:
            for key in parity.impossible(newer.rows, older.rows, SHOWN):
                self._differ("ro", "this row was never in rt", key)

    def _check_names(self, found: Dict[str, Dict[str, int]]) -> None:
        # The first commit makes the name, too.
        for target in [one for one in self.table.targets if commits.written(self._spark, one.path)]:
            for name in target.hive:
                kind = "cow" if target.type == "cow" else name[-2:]
                rows = found[kind]["live"] + found[kind]["deleted"]
                problem = lake_rows.name_problem(self._spark, name, target.path, kind, rows)
                if problem:
                    self.result["differences"].append({"where": name, "detail": problem})

    def _differ(self, where: str, detail: str, key: str) -> None:
        self.result["differences"].append({"where": where, "key": named(self.table, key), "detail": detail})

    def _conclude(self, found: Dict[str, Found], sides: Dict[str, LakeRows]) -> None:
        settled = {pair: parity.settled(found[pair], self._before.get(pair)) for pair in found}
        moving = {pair: set(found[pair].keys) - set(settled[pair]) for pair in found}
        last = self.result["rounds"] == ROUNDS
        self.done = last or not any(moving.values())
        if self.done:
            for pair in found:
                self._describe(pair, sorted(settled[pair]), sides, "differences")
                self._describe(pair, sorted(moving[pair]), sides, "unsettled")
            self.result["more"] = any(one.more for one in found.values())
            self.result["equal"] = not self.result["differences"] and not self.result["unsettled"]
        self._before = found
        keys = sorted({key for one in found.values() for key in one.keys})
        self._keys = None if any(one.more for one in found.values()) else keys

    def _describe(self, pair: str, keys: List[str], sides: Dict[str, LakeRows], where: str) -> None:
        left, right = pair.split(" = ")
        shown = keys[:SHOWN]
        ours, theirs = sides[left].texts(self._spark, shown), sides[right].texts(self._spark, shown)
        for key in shown:
            columns = parity.column_differences(sides[left].names, ours.get(key), theirs.get(key))
            self.result[where].append(
                {
                    "where": pair,
                    "key": named(self.table, key),
                    "missing_in": left if key not in ours else right if key not in theirs else None,
                    "columns": {name: {left: cut(mine), right: cut(other)} for name, (mine, other) in columns.items()},
                }
            )
        if len(keys) > SHOWN:
            self.result[where].append({"where": pair, "detail": "and {} more keys".format(len(keys) - SHOWN)})


def pairs(sides: Dict[str, LakeRows]) -> Dict[str, Tuple[Any, Any]]:
    """Which sides are compared: the source with what is live, the two lake tables with each other in full."""
    lake = [name for name in ("cow", "rt") if name in sides]
    compared = {"source = " + name: (sides["source"].live(), sides[name].live()) for name in lake}
    if "cow" in sides and "rt" in sides:
        compared["cow = rt"] = (sides["cow"].rows, sides["rt"].rows)
    return compared


def named(table: Table, key: str) -> Dict[str, str]:
    """The key columns and their texts."""
    return dict(zip(table.keys, json.loads(key)))


def cut(text: Optional[str]) -> Optional[str]:
    return text if text is None or len(text) <= 200 else text[:197] + "..."


class Proof:
    """All tables of one run."""

    def __init__(self, spark: SparkSession, pipeline: Pipeline, args: Any) -> None:
        self._spark = spark
        self._pipeline = pipeline
        self._url = args.jdbc_url
        self._user = args.user
        self._timeout_s = args.timeout_s
        self._deadline = Deadline(time.monotonic() + args.timeout_s)
        self.proofs = [TableProof(spark, table) for table in chosen(pipeline, args.tables)]

    def run(self) -> Dict[str, Any]:
        """Rounds over the tables that are not settled yet, database by database; then the archives."""
        began = time.monotonic()
        while any(not proof.done for proof in self.proofs):
            for database in sorted({proof.table.database for proof in self.proofs if not proof.done}):
                self._round(database, [p for p in self.proofs if p.table.database == database and not p.done])
        for proof in self.proofs:
            self._check_quarantine(proof)
            if proof.result["rounds"]:
                self._check_archive(proof)
            proof.result["equal"] = proof.result["equal"] and not proof.result["differences"]
        return {
            "equal": all(proof.result["equal"] for proof in self.proofs),
            "seconds": round(time.monotonic() - began, 1),
            "tables": {proof.name: proof.result for proof in self.proofs},
        }

    def _round(self, database: str, proofs: List[TableProof]) -> None:
        source = source_of(self._spark, self._url, database, self._user)
        moment = Moment(source)
        try:
            tell("{} at {}: {} tables".format(database, moment.lsn, len(proofs)))
            covered = [proof for proof in proofs if self._covered(source, moment, proof)]
            if covered:
                tell("the lake covers {}: {} tables".format(moment.lsn, len(covered)))
            for proof in covered:
                self._look(proof, moment)
        finally:
            moment.close()

    def _covered(self, source: Source, moment: Moment, proof: TableProof) -> bool:
        try:
            coverage.wait_for_slot(source, proof.table.database, moment.lsn, self._deadline)
            proof.end = broker.topic_offsets(self._spark, self._pipeline, proof.table.topic).end
            coverage.wait_for_targets(self._spark, proof.table, proof.end, self._deadline)
            return True
        except NotCovered as missing:
            proof.fail("lake", "not caught up with {} in the time given: {}".format(moment.lsn, missing))
            return False

    def _look(self, proof: TableProof, moment: Moment) -> None:
        try:
            proof.look(moment)
            tell("{} round {}: {}".format(proof.name, proof.result["rounds"], verdict(proof)))
        except (Unmapped, lake_rows.WrongType) as problem:
            proof.fail("type map", str(problem))

    def _check_quarantine(self, proof: TableProof) -> None:
        """What was set aside is missing until it is replayed or dropped."""
        target = self._pipeline.quarantine.get(proof.table.database)
        lines = quarantine.told(self._spark, target, proof.table.topic)
        rest = ["and {} more messages".format(len(lines) - SHOWN)] if len(lines) > SHOWN else []
        for detail in lines[:SHOWN] + rest:
            proof.result["differences"].append({"where": "quarantine", "detail": detail})
        proof.result["quarantined"] = len(lines)

    def _check_archive(self, proof: TableProof) -> None:
        missing = self._archive_lacks(proof)
        files = archive.files_of(self._spark, self._pipeline.bronze["path"], proof.table.topic)
        kafka = broker.topic_offsets(self._spark, self._pipeline, proof.table.topic).begin
        begin = {**kafka, **archive.begins(self._spark, self._pipeline.bronze["path"], proof.table.topic)}
        for detail in archive.faults(files, begin) + ([missing] if missing else []):
            proof.result["differences"].append({"where": "bronze", "detail": detail})
        proof.result["bronze"] = {"files": len(files), "rows": sum(file.rows for file in files)}

    def _archive_lacks(self, proof: TableProof) -> str:
        """What the archive still lacks after its own time: it has a slower trigger than the tables."""
        deadline = Deadline(time.monotonic() + self._timeout_s)
        place = self._pipeline.bronze["path"], proof.table.topic
        try:
            coverage.wait_until(
                lambda: coverage.lacking("bronze", archive.reached(self._spark, *place), proof.end), deadline
            )
        except NotCovered as missing:
            return str(missing)
        return ""


def verdict(proof: TableProof) -> str:
    """One word or two for the progress line."""
    if not proof.done:
        return "some keys differ, looking again"
    return "equal" if proof.result["equal"] else "different"


def chosen(pipeline: Pipeline, names: str) -> List[Table]:
    """The tables of these names, comma separated; all for ''. Refused if one is unknown."""
    if not names:
        return list(pipeline.tables)
    found = []  # type: List[Table]
    for name in names.split(","):
        matches = [table for table in pipeline.tables if name in table.names()]
        if not matches:
            known = ", ".join(sorted("{0.database}.{0.table}".format(table) for table in pipeline.tables))
            raise Refused("there is no table or database '{}' in the lake; there are: {}".format(name, known))
        found.extend(table for table in matches if table not in found)
    return found


def main(argv: List[str]) -> int:
    """Writes the result file; 0 on equality, 1 on a difference, 2 on bad input."""
    args = _parser().parse_args(argv)

    def work(spark: SparkSession) -> Dict[str, Any]:
        return Proof(spark, read_pipeline(spark, args.config), args).run()

    return once.run("verify", args.output, work, lambda content: int(not content["equal"]))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="verify")
    parser.add_argument("--config", required=True, help="pipeline.json")
    parser.add_argument("--output", required=True, help="where the result goes, JSON")
    parser.add_argument("--jdbc-url", required=True, help="jdbc:postgresql://host:port")
    parser.add_argument("--user", required=True)
    parser.add_argument("--tables", default="", help="as on the command line, comma separated")
    parser.add_argument("--timeout-s", type=float, default=180.0)
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
