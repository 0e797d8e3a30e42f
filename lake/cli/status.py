"""`lake status`: services, sources and tables; on AWS stacks, cluster, jobs and tables."""

import time
from collections.abc import Callable, Sequence
from typing import Any

import typer
from rich.console import Group, RenderableType
from rich.live import Live
from rich.text import Text

from lake.cli import options
from lake.clients.table_status import SourceStatus, TableStatus
from lake.config.errors import BadInput
from lake.deployments.deployment import Deployment, Status
from lake.deployments.open import open_deployment
from lake.local.status import Pairing, ServiceStatus
from lake.sources.drift import Drift

WATCH_S = 2.0


def status(
    as_json: bool = options.JSON,
    watch: bool = typer.Option(False, "--watch", help="Show it again every two seconds until Ctrl-C."),
    env: str = options.ENV,
) -> None:
    """Show services, sources and tables. Exit code 1 unless all of them are healthy.

    Lag is the time from the commit in PostgreSQL to the commit in the lake, over the changes of the last minute.

    On AWS: stacks, cluster, jobs and tables. --watch works on this machine only, and not together with --json.

    Example: lake status --watch
    """
    deployment = open_deployment(env)
    if watch:
        _watch(deployment, as_json)
    with options.progress("asking the services"):
        found = deployment.status()
    options.print_json(found.as_json()) if as_json else options.out.print(overview(found))
    raise typer.Exit(0 if found.healthy else 1)


def _watch(deployment: Deployment, as_json: bool) -> None:
    if as_json:
        raise BadInput("--watch does not print JSON", "command line", "leave out --watch or --json")
    if not deployment.watchable:
        raise BadInput("--watch works for the lake on this machine only", "command line", "leave out --watch or --env")
    with Live(console=options.out, auto_refresh=False) as live:
        while True:
            live.update(overview(deployment.status()), refresh=True)
            time.sleep(WATCH_S)


def overview(found: Status) -> Group:
    """One table for each kind of thing that the deployment has."""
    facts = found.facts
    lines = [f"stack {part}: {state}" for part, state in facts.get("stacks", {}).items()]
    if "cluster" in facts:
        lines.append(f"cluster: {facts['cluster']}")
        lines += [f"job {one.name}: {one.state} {one.reason}" for one in facts["jobs"]]
    if "pairing" in facts:
        lines.append(_pairing(facts["pairing"]))
    parts: list[RenderableType] = [Text("\n".join(lines))] if lines else []
    for kind, (columns, row) in TABLES.items():
        if facts.get(kind):
            parts += [
                *([Text()] if parts else []),
                options.table(columns, [*map(row, facts[kind]), *_sum(kind, facts)]),
            ]
    return Group(*parts)


def _sum(kind: str, facts: dict[str, Any]) -> list[list[str]]:
    """The last row of the services: their memory together."""
    total = sum(one.rss_bytes for one in facts[kind]) if kind == "services" else 0
    return [["all", "", "", "", f"{total / 2**20:.0f} MiB", ""]] if total else []


def _pairing(one: Pairing) -> str:
    other = f"; the streaming job runs on Spark {one.running} until: lake down, lake up"
    return f"{one.release}: Spark {one.spark}, Hudi {one.hudi}{other if one.running not in ('', one.spark) else ''}"


def _drift(one: Drift) -> list[str | Text]:
    return [one.database, Text(one.what, "red"), one.now]


def _source(one: SourceStatus) -> list[str | Text]:
    retained = "" if one.retained_wal_bytes is None else f"{one.retained_wal_bytes / 2**20:.1f} MiB"
    connector, *tasks = (options.coloured(state, state == "RUNNING") for state in (one.connector, *one.tasks))
    return [one.database, connector, Text(", ").join(tasks), one.slot, retained, one.reason]


def _table(one: TableStatus) -> list[str | Text]:
    lags = ["" if lag is None else f"{lag:.1f} s" for lag in (one.lag_p50_s, one.lag_p95_s)]
    ago = "" if one.committed_at is None else f"{max(0, time.time() - one.committed_at):.0f} s ago"
    rows = "" if one.rows is None else str(one.rows)
    quarantined = Text(str(one.quarantined or ""), "red")
    return [one.name, _state(one.state), rows, *lags, one.lsn or "", ago, quarantined, one.reason]


def _service(one: ServiceStatus) -> list[str | Text]:
    facts = [str(one.pid), f"{one.uptime_s} s", f"{one.rss_bytes / 2**20:.0f} MiB"]
    return [one.name, _state(one.state), *(facts if one.state == "running" else [""] * 3), one.reason]


def _state(name: str) -> Text:
    return Text(name, "green" if name == "running" else "yellow" if name in ("starting", "waiting", "left") else "red")


LAGS = ("lag p50", "lag p95")
TABLES: dict[str, tuple[Sequence[str], Callable[[Any], list[str | Text]]]] = {
    "services": (["service", "state", "pid", "uptime", "memory", ""], _service),
    "sources": (["source", "connector", "tasks", "slot", "retained WAL", ""], _source),
    "tables": (["table", "state", "rows", *LAGS, "LSN", "last commit", "quarantine", ""], _table),
    "drifts": (["drift", "what", "what now"], _drift),
}
