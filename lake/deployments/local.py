"""The lake on this machine: one folder, and the processes that work in it."""

import shutil
import time
from pathlib import Path
from typing import Any

from lake.clients import stream_status
from lake.config.definition import load_databases
from lake.config.errors import BadInput
from lake.config.home import Home
from lake.config.lock import locked
from lake.deployments.deployment import Item, Say
from lake.local import processes
from lake.local.parity import compare
from lake.local.stack import Stack
from lake.plan.run import apply_all
from lake.samples import moma

HERE = "this machine"
# A folder that lacks all of these is not a lake's, whatever LAKE_DATA_DIR says.
SIGNS = ("secrets.json", "rendered", "postgres", "lock")
LOST = {
    "postgres": "the source databases with all their rows",
    "kafka": "all topics",
    "s3": "bronze and silver: the archive and all tables",
    "metastore": "the names of the tables",
    "checkpoints": "how far each table is",
    "secrets.json": "the passwords",
}
DATA = "s3"  # what --keep-data keeps
AT = "%Y%m%dT%H%M%SZ"


class LocalPlace:
    """environments/local.yaml, or the file of another local lake."""

    protected = False

    def __init__(self, home: Home) -> None:
        self.home = home
        self.name = home.environment.name

    @property
    def _doomed(self) -> Path:
        """Where the folder is moved to first: a lake is there or gone, never half there."""
        return self.home.data.with_name(f"{self.home.data.name}.deleting")

    @property
    def _kept(self) -> Path:
        return self.home.data.with_name(f"{self.home.data.name}.kept")

    @property
    def _mark(self) -> Path:
        return self.home.data.with_name(f"{self.home.data.name}.rebuilding")

    def standing(self) -> list[Item]:
        running = [Item(HERE, "process", processes.describe(one)) for one in processes.of_lake(self.home.data)]
        parts = sorted(self.home.data.iterdir()) if self.home.data.exists() else []
        found = [Item(HERE, "folder" if one.is_dir() else "file", str(one), LOST.get(one.name, "")) for one in parts]
        doomed = [Item(HERE, "folder", str(self._doomed), "")] if self._doomed.exists() else []
        kept = sorted(self._kept.iterdir()) if self._kept.exists() else []
        return [*running, *found, *doomed, *(Item(HERE, "kept data", str(one)) for one in kept)]

    def keeps(self, item: Item, keep_data: bool) -> bool:
        """What an earlier teardown kept is nobody's but the operator's."""
        return item.kind == "kept data" or (keep_data and item.name == str(self.home.data / DATA))

    def demolish(self, keep_data: bool, say: Say) -> None:
        data = self.home.data
        if data.exists():
            self._refuse_foreign()
            Stack(self.home, lambda service, what, seconds: say(f"{service}: {what}")).down()
            if keep_data and (data / DATA).exists():
                say(f"kept: {self._keep()}")
            shutil.rmtree(self._doomed, ignore_errors=True)
            with locked(data / "lock", "another lake command is starting or stopping this lake"):
                data.rename(self._doomed)
        if self._doomed.exists():
            shutil.rmtree(self._doomed)
            say(f"deleted: {data}")

    def _keep(self) -> Path:
        target = self._kept / time.strftime(AT, time.gmtime())
        target.parent.mkdir(exist_ok=True)
        (self.home.data / DATA).rename(target)
        return target

    def _refuse_foreign(self) -> None:
        if not any((self.home.data / sign).exists() for sign in SIGNS) and any(self.home.data.iterdir()):
            now = "correct LAKE_DATA_DIR, or delete the folder yourself"
            raise BadInput("this folder holds no lake", str(self.home.data), now)

    def check_build(self) -> None:
        """The rows of other databases exist nowhere but in the PostgreSQL that is deleted."""
        others = [one.database for one in load_databases(self.home.root) if one.database != moma.DATABASE]
        if others:
            now = "tear down and load them yourself: lake teardown, lake up, ..., lake apply"
            raise BadInput(f"the rows of {', '.join(others)} can't be loaded again from here", "databases/", now)

    def build(self, say: Say) -> None:
        Stack(self.home, lambda service, what, seconds: say(f"{service}: {what}")).up()
        for table, (added, present) in moma.load(self.home).items():
            say(f"{moma.DATABASE}.public.{table}: {present} rows ({added} new)")
        apply_all(self.name, say=say)
        stream_status.wait_for_lake(self.home, load_databases(self.home.root), lambda line: None)
        say("every table holds every row")

    def verify(self, names: list[str], timeout_s: float, say: Say) -> dict[str, Any]:
        return compare(names, timeout_s, say)

    def rebuilding(self) -> bool:
        return self._mark.exists()

    def mark_rebuilding(self, on: bool) -> None:
        self._mark.touch() if on else self._mark.unlink(missing_ok=True)
