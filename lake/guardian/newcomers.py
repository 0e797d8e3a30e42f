"""Adds tables that come later and meet a pattern of a definition: as `lake init --update` and `lake apply` do.

It has a thread of its own, because an apply waits for Kafka Connect.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from lake.config.definition import Database
from lake.config.environment import Environment
from lake.config.errors import LakeError
from lake.config.files import read_json, replace_json
from lake.config.lock import is_locked
from lake.config.patterns import first_met, patterns_of, resolved_path
from lake.config.yaml_file import read_mapping
from lake.discovery import writing
from lake.discovery.candidates import Candidate, candidates, explained
from lake.discovery.dsn import Target
from lake.guardian.problems import Problems
from lake.plan.run import apply_all, planned
from lake.sources.drift import Drift
from lake.sources.postgres import survey
from lake.state.resync import LOCK

LOG = logging.getLogger("guardian")
LOOK_EVERY_S = 5.0
JUDGE_AGAIN_S = 60.0  # a table that cannot be captured may be mended
LEFT_OUT = "guardian/left_out"
WAITS = "is not captured yet: the definition has other changes, and they are applied by people only"


class Newcomers:
    """drifts: the tables that meet a pattern and are not captured, by database."""

    def __init__(self, home: Environment) -> None:
        self._home = home
        self._told: dict[str, list[Drift]] = {}
        self._judged: dict[str, tuple[frozenset[str], float]] = {}  # by database: the new tables, and until when

    @property
    def drifts(self) -> list[Drift]:
        return [drift for drifts in list(self._told.values()) for drift in drifts]

    def keep(self, databases: Callable[[], list[Database]], stopping: threading.Event) -> None:
        """Looks at all databases until stopped."""
        problems = Problems()
        while not stopping.wait(LOOK_EVERY_S):
            for database in databases():
                problems.tell(database.database, self._look(database))

    def _look(self, database: Database) -> str:
        try:
            self._told[database.database] = self.attend(database)
        except LakeError as error:
            return f"no look for new tables: {error}"
        return ""

    def attend(self, database: Database) -> list[Drift]:
        """Adds the new tables that can be captured; what keeps the others from it."""
        name = database.database
        found = self._new(database)
        known, until = self._judged.get(name, (frozenset(), 0.0))
        if not found:
            self._listed(database, set())  # from now on each table that cannot be captured is a new one
            return []
        if is_locked(self._home.data / LOCK) or (found == known and time.monotonic() < until):
            return self._told.get(name, [])
        self._judged[name] = found, time.monotonic() + JUDGE_AGAIN_S
        return list(self._add(database, found))

    def _new(self, database: Database) -> frozenset[str]:
        """The tables of the source that meet a pattern, and that the definition does not have."""
        path = writing.path_of(self._home.root, database.database)
        patterns = patterns_of(read_mapping(path)) if path.exists() else {}
        if not patterns:
            return frozenset()
        there = survey.table_names(self._home, database.source, database.database)
        return frozenset(one for one in there if one not in database.by_name and first_met(patterns, one))

    def _add(self, database: Database, new: frozenset[str]) -> Iterator[Drift]:
        name = database.database
        target = Target(database.source, {}, name)
        judged = candidates(self._home, target, survey.survey(self._home, database.source, name))
        found = [one for one in judged.candidates if one.full_name in new]
        refused = [one for one in found if one.reasons]
        listed = self._listed(database, {one.full_name for one in refused})
        yield from (_refused(name, one) for one in refused if one.full_name not in listed)
        added = [one for one in found if not one.reasons]
        if added and self._others_wait():
            yield from (Drift(name, "", f"{one.full_name} {WAITS}", "see: lake plan; lake apply") for one in added)
        elif added:
            self._write(database, added)
            apply_all(self._home.name, report=LOG.info).demand(name)

    def _listed(self, database: Database, refused: set[str]) -> set[str]:
        """The tables that `lake init` left out and listed: all that cannot be captured when it wrote what it met."""
        kept = read_json(self._list_of(database)) or {}
        if kept.get("met") == self._met(database):
            return set(kept["left_out"])
        self._list(database, refused)
        return refused

    def _list(self, database: Database, left_out: set[str]) -> None:
        replace_json(self._list_of(database), {"met": self._met(database), "left_out": sorted(left_out)})

    def _list_of(self, database: Database) -> Path:
        return self._home.data / LEFT_OUT / f"{database.database}.json"

    def _met(self, database: Database) -> int:
        """When the tables that meet the patterns were written; 0 before."""
        path = self._resolved(database)
        return path.stat().st_mtime_ns if path.exists() else 0

    def _resolved(self, database: Database) -> Path:
        return resolved_path(writing.path_of(self._home.root, database.database))

    def _others_wait(self) -> bool:
        """True if an apply would do more than add these tables: a person may be writing the definition just now."""
        plan = planned(self._home.name)
        return any(one.kind != "leave" for one in plan.changes)

    def _write(self, database: Database, added: list[Candidate]) -> None:
        path, listed = self._resolved(database), self._listed(database, set())
        LOG.warning("%s: new tables are captured: %s", database.database, ", ".join(one.full_name for one in added))
        known = read_json(path) or {}
        replace_json(path, {**known, **{one.full_name: one.settings for one in added}}, writing.PUBLIC)
        self._list(database, listed)


def _refused(database: str, one: Candidate) -> Drift:
    what = f"{one.full_name} meets a pattern of the definition, and is not captured: {explained(one.reasons)}"
    return Drift(database, "", what, "mend it, or leave it out: a narrower pattern")
