"""The lake on this machine: one folder, and the processes that work in it."""

import shutil
import time
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from lake.clients import guardian_report, stream_status, table_status
from lake.config.definition import Database, load_databases
from lake.config.environment import Environment
from lake.config.errors import BadInput, LakeError
from lake.config.lock import locked
from lake.config.refinement import REFINE, REFINED, Refinement
from lake.config.report import Report, silent
from lake.deployments.connectors import Ask, local_connectors
from lake.deployments.deployment import Resource, Status, StreamerRun
from lake.deployments.local_jobs import LocalJobs, of_services
from lake.local import processes, status, streamer
from lake.local.left_tables import left_tables
from lake.local.parity import compare
from lake.local.spark_job import run_job
from lake.local.stack import BUSY, Stack
from lake.local.supervisor import LOG_PREFIX
from lake.plan.leaving import leaving
from lake.plan.run import apply_all
from lake.rendering.pipeline import as_applied, pipeline_path, read_pipeline
from lake.rendering.streamer import RunOptions
from lake.samples import loading
from lake.samples.catalog import SAMPLES

HERE = "this machine"
FOLLOW_S = 0.3
# A folder without any of these is not the data of a lake, even if LAKE_DATA_DIR names it.
SIGNS = ("secrets.json", "rendered", "postgres", "lock")
LOST = {
    "postgres": "the source databases with all their rows",
    "kafka": "all topics",
    "s3": "bronze and silver: the archive and all tables",
    "metastore": "the names of the tables",
    "checkpoints": "how far each job about sales is",
    "secrets.json": "the passwords",
}
DATA = "s3"  # what --keep-data keeps
AT = "%Y%m%dT%H%M%SZ"


class LocalDeployment:
    """environments/local.yaml, or the file of another local lake."""

    protected = False
    watchable = True

    def __init__(self, home: Environment) -> None:
        self.home = home
        self.name = home.name
        # A folder is moved to *.deleting first, so that a lake is never half deleted.
        names = (f"{home.data.name}.{word}" for word in ("deleting", "kept", "rebuilding"))
        self._doomed, self._kept, self._mark = map(home.data.with_name, names)

    def _stack(self, report: Report) -> Stack:
        return Stack(self.home, lambda service, what, seconds: report(f"{service}: {what}"))

    @property
    def jobs(self) -> LocalJobs:
        return LocalJobs(self.home)

    def connectors(self, databases: Sequence[Database], report: Report) -> Ask:
        known = read_pipeline(self.home)
        return local_connectors(self.home, [as_applied(one, known) for one in databases])

    # --- Look.

    def status(self) -> Status:
        services = status.services(self.home)
        running = any(one.state == "running" for one in services)
        tables = table_status.tables(self.home)
        sources = table_status.sources(self.home, self._captured()) if running else []
        drifts = guardian_report.read(self.home) if running else []
        facts = {
            "pairing": status.pairing(self.home, services),
            "services": services,
            "jobs": of_services(self.home, services),
            "tables": [*tables, *(one.status for one in left_tables(self.home))],
            "sources": sources,
            "drifts": drifts,
        }
        captured = not running or table_status.healthy(tables, sources)
        return Status(not drifts and status.healthy(services) and captured, facts)

    def _captured(self) -> list[Database]:
        """The defined databases; none before the first lake apply, because there are no connectors yet."""
        if not pipeline_path(self.home).exists():
            return []
        defined = load_databases(self.home.root, may_be_none=True)
        return leaving(self.home, defined).joined(defined)

    def logs(self, service: str, lines: int, follow: bool) -> Iterator[str]:
        Stack(self.home).service(service.removeprefix(LOG_PREFIX))
        path = self.home.log(service)
        if not path.exists():
            raise LakeError(f"{service} has no log yet", str(path), "run: lake up")
        with path.open(errors="replace") as file:
            yield "".join(deque(file, lines))
            while follow:
                yield file.read()
                time.sleep(FOLLOW_S)

    def topics(self, report: Report) -> list[dict[str, Any]]:
        return list(run_job(self.home, "topics", [])["topics"])

    # --- Run.

    def verify(self, names: list[str], timeout_s: float, report: Report) -> dict[str, Any]:
        return compare(self.home, names, timeout_s, report)

    def run_streamer(self, options: RunOptions, report: Report) -> StreamerRun:
        return StreamerRun(streamer.run(self.home, options, report), streamer.log_hint(self.home))

    def refine(self, wanted: Refinement, report: Report) -> dict[str, Any]:
        path = ["--path", f"{self.home.bucket_uri}/{REFINED}"]
        return run_job(self.home, REFINE, [*path, *wanted.arguments()])

    # --- Build and destroy.

    def resources(self) -> list[Resource]:
        running = [Resource(HERE, "process", processes.describe(one)) for one in processes.of_lake(self.home.data)]
        parts = sorted(self.home.data.iterdir()) if self.home.data.exists() else []
        found = [
            Resource(HERE, "folder" if one.is_dir() else "file", str(one), LOST.get(one.name, "")) for one in parts
        ]
        doomed = [Resource(HERE, "folder", str(self._doomed), "")] if self._doomed.exists() else []
        kept = sorted(self._kept.iterdir()) if self._kept.exists() else []
        return [*running, *found, *doomed, *(Resource(HERE, "kept data", str(one)) for one in kept)]

    def is_retained(self, resource: Resource, keep_data: bool) -> bool:
        """An earlier teardown kept data for the operator: they stay."""
        return resource.kind == "kept data" or (keep_data and resource.name == str(self.home.data / DATA))

    def destroy(self, keep_data: bool, report: Report) -> None:
        data = self.home.data
        if data.exists():
            self._refuse_foreign()
            self._stack(report).down()
            if keep_data and (data / DATA).exists():
                report(f"kept: {self._keep()}")
            shutil.rmtree(self._doomed, ignore_errors=True)
            with locked(data / "lock", BUSY):
                data.rename(self._doomed)
        if self._doomed.exists():
            shutil.rmtree(self._doomed)
            report(f"deleted: {data}")

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
        """BadInput for databases whose rows exist only in the PostgreSQL that would be deleted."""
        others = [one.database for one in load_databases(self.home.root) if one.database not in SAMPLES]
        if others:
            now = "tear down and load them yourself: lake teardown, lake up, ..., lake apply"
            raise BadInput(f"the rows of {', '.join(others)} can't be loaded again from here", "databases/", now)

    def build(self, report: Report) -> None:
        self._stack(report).up()
        databases = load_databases(self.home.root)
        for name in (one.database for one in databases):
            for table, (added, present) in SAMPLES[name](self.home, loading.silent).items():
                report(f"{name}.{table}: {present} rows ({added} new)")
        apply_all(self.name, report=report).demand()
        stream_status.wait_for_lake(self.home, databases, silent)
        report("every table holds every row")

    def rebuilding(self) -> bool:
        return self._mark.exists()

    def mark_rebuilding(self, on: bool) -> None:
        self._mark.touch() if on else self._mark.unlink(missing_ok=True)
