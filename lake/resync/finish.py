"""A complete re-snapshot: reads tables again, deletes orphaned rows, and validates the data."""

import json
from typing import Any

from lake.clients.stream_control import DELETE_ORPHANS, ask_stream
from lake.config.definition import load_databases
from lake.config.environment import Environment
from lake.config.errors import LakeError, in_the_middle
from lake.config.names import source_name, targets_of
from lake.config.report import Report
from lake.guardian.inspect import Inspection, accept, inspect
from lake.local.parity import compare, run_reader
from lake.resync import quarantine
from lake.state import resync
from lake.state.resync import Request

Tables = list[dict[str, Any]]


def read_again(
    home: Environment, command: str, tables: Tables, request_rows: Request, timeout_s: float, report: Report
) -> dict[str, Any]:
    """{"equal": …, "swept": rows by Hudi table, "given_up": ids of messages, "verify": the proof}.

    given_up: messages in quarantine that are older than the re-snapshot, and were discarded. LakeError if it fails.

    tables: entries of the pipeline file. command: to run after an interruption. BadInput as check_interrupted().
    """
    resync.check_interrupted(home, command, tables)
    with in_the_middle(command):
        begun = resync.begin(home, command, tables, request_rows)
        resync.await_read(home, load_databases(home.root), begun, timeout_s, report)
        report("looking for rows that the source no longer has")
        bounds = {topic: bound for asked in begun.values() for topic, bound in asked.bounds.items()}
        found = _find_orphans(home, command, bounds, timeout_s)
        check_none_missed(home, found, command, list(begun))
        swept = _orphan_counts(tables, found)
        by_target = {target: bounds[table["topic"]] for table in tables for target in targets_of(table)}
        requests = {target: (DELETE_ORPHANS, {"table": target, "bound": by_target[target]}) for target in swept}
        ask_stream(home, requests, timeout_s, report)
        given_up: list[str] = []
        for database, asked in begun.items():
            given_up += quarantine.give_up(home, database, asked.bounds, timeout_s)
        result = prove(home, tables, timeout_s, report)
        for database in begun:
            resync.end(home, database)
        return {**result, "swept": swept, "given_up": given_up}


def prove(home: Environment, tables: Tables, timeout_s: float, report: Report) -> dict[str, Any]:
    """{"equal": …, "verify": the proof}. If all is equal, it becomes the guardian's new baseline."""
    report("comparing with the source")
    names = {table["database"] for table in tables}
    before = [inspect(home, one) for one in load_databases(home.root) if one.database in names]
    proof = compare(home, [f"{table['database']}.{source_name(table)}" for table in tables], timeout_s, report)
    if proof["equal"]:
        for one in before:
            accept(home, one, _names(tables, one))
    return {"equal": proof["equal"], "verify": proof}


def _names(tables: Tables, found: Inspection) -> list[str]:
    database = found.database.database
    return [source_name(table) for table in tables if table["database"] == database]


def _find_orphans(
    home: Environment, command: str, bounds: dict[str, int], timeout_s: float
) -> dict[str, dict[str, Any]]:
    content = run_reader(home, "ghosts", ["--bounds", json.dumps(bounds), "--timeout-s", str(timeout_s)])
    if "error" in content:
        raise LakeError(content["error"], command, "see: lake status; run it again, it continues from here")
    return dict(content["tables"])


def check_none_missed(home: Environment, found: dict[str, dict[str, Any]], command: str, databases: list[str]) -> None:
    """LakeError for rows that the re-snapshot missed. It stays pending: only it knows the orphaned rows of a gap."""
    left = [f"{one['unread']} of {table}" for table, one in found.items() if one["unread"]]
    if left:
        for database in databases:
            resync.request_again(home, database)
        what = f"the connector left rows out: {', '.join(left)}; nothing was deleted"
        now = "see: lake quarantine list, lake logs connect; then run it again from the beginning"
        raise LakeError(what, command, now)


def _orphan_counts(tables: Tables, found: dict[str, dict[str, Any]]) -> dict[str, int]:
    """The number of orphaned rows by Hudi table, without tables that have none."""
    counted = {
        target: found[table["topic"]]["ghosts"][kind["type"]]
        for table in tables
        for kind, target in zip(table["targets"], targets_of(table), strict=True)
    }
    return {target: count for target, count in counted.items() if count}
