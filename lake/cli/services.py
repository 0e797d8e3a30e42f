"""The commands for the local services: up, down, status, logs, restart, endpoints."""

import json
import time
from collections import deque
from dataclasses import asdict
from pathlib import Path

import typer
from rich.console import Console, Group
from rich.live import Live
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from lake.aws.environment import LOCAL
from lake.cli import options
from lake.clients import guardian_report, table_status
from lake.config.definition import Database, load_databases
from lake.config.errors import BadInput, LakeError
from lake.config.home import Home, load_home
from lake.deployments.jobs import of_services
from lake.local import status as state
from lake.local.endpoints import endpoints as all_endpoints
from lake.local.endpoints import flat
from lake.local.stack import Stack
from lake.local.supervisor import LOG_PREFIX
from lake.rendering.pipeline import pipeline_path
from lake.sources.drift import Drift

FOLLOW_S = 0.3
WATCH_S = 2.0
console = Console(highlight=False)


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    for command in (up, down, restart, status, logs, endpoints):
        app.command()(command)


def _report(service: str, what: str, seconds: float) -> None:
    console.print(f"[dim]{seconds:5.1f} s[/]  [bold]{service:<10}[/] {escape(what)}", soft_wrap=True)


def up() -> None:
    """Start all services and wait until each one answers; the streaming job is started, and not waited for.

    Example: LAKE_PORT_BASE=28000 lake up
    """
    began = time.monotonic()
    stack = Stack(load_home(), _report)
    if stack.up():
        console.print(f"The lake is up after {time.monotonic() - began:.1f} s. See: lake endpoints")
    else:
        console.print("The lake was already up; nothing to do. See: lake status")


def down() -> None:
    """Stop all services; data stay where they are.

    Example: lake down
    """
    began = time.monotonic()
    if Stack(load_home(), _report).down():
        console.print(f"The lake is down after {time.monotonic() - began:.1f} s; its data are kept.")
    else:
        console.print("The lake was not up; nothing to do.")


def restart(service: str = typer.Argument(help="Name as in: lake status")) -> None:
    """Stop and start one service while the others keep running.

    Example: lake restart connect
    """
    Stack(load_home(), _report).restart(service)


def status(
    as_json: bool = typer.Option(False, "--json", help="Print facts for machines."),
    watch: bool = typer.Option(False, "--watch", help="Show it anew every two seconds until Ctrl-C."),
    env: str = options.ENV,
) -> None:
    """Show services, sources and tables; exit code 1 unless all of them are well.

    Lag is the time from the commit in PostgreSQL to the commit in the lake, over the changes of the last minute.

    On AWS: stacks, cluster, jobs and tables. --watch is for people and for this machine: with --json or --env it is
    refused.

    Example: lake status --watch
    """
    _refuse_mixture(watch, as_json, env)
    if env != LOCAL:
        _status_on_aws(env, as_json)
    home = load_home()
    if watch:
        _watch(home)
    lines = state.services(home)
    running = any(line.state == "running" for line in lines)
    tables = table_status.tables(home)
    sources = table_status.sources(home, _captured(home)) if running else []
    drifts = guardian_report.read(home) if running else []
    if as_json:
        jobs = [asdict(one) for one in of_services(home, lines)]
        facts = {"services": state.as_json(lines), "jobs": jobs, **table_status.as_json(tables, sources)}
        print(json.dumps({**facts, "drifts": [asdict(one) for one in drifts]}, indent=2))
    else:
        console.print(_overview(lines, tables, sources, drifts))
    if drifts or not state.healthy(lines) or (running and not table_status.healthy(tables, sources)):
        raise typer.Exit(1)


def _refuse_mixture(watch: bool, as_json: bool, env: str) -> None:
    if watch and as_json:
        raise BadInput("--watch shows no facts for machines", "command line", "leave out --watch or --json")
    if watch and env != LOCAL:
        raise BadInput("--watch looks at the lake on this machine only", "command line", "leave out --watch or --env")


def _status_on_aws(env: str, as_json: bool) -> None:
    from lake.deployments.aws_status import look
    from lake.deployments.open import aws_place

    found = look(aws_place(env))
    if as_json:
        print(json.dumps(found.as_json(), indent=2))
    else:
        parts = [f"stack {part}: {state}" for part, state in found.stacks.items()]
        parts += [f"cluster: {found.cluster}", *(f"job {one.name}: {one.state} {one.reason}" for one in found.jobs)]
        console.print(Group(Text("\n".join(parts or ["nothing is deployed"])), _tables_table(found.tables)))
    raise typer.Exit(0 if found.healthy else 1)


def _captured(home: Home) -> list[Database]:
    """The defined databases, once anything was applied: before that there is no connector to ask for."""
    return load_databases(home.root) if pipeline_path(home.environment).exists() else []


def _watch(home: Home) -> None:
    databases = _captured(home)
    with Live(console=console, auto_refresh=False) as live:
        while True:
            facts = state.services(home), table_status.tables(home), table_status.sources(home, databases)
            live.update(_overview(*facts, guardian_report.read(home)), refresh=True)
            time.sleep(WATCH_S)


def _overview(
    lines: list[state.ServiceStatus],
    tables: list[table_status.TableStatus],
    sources: list[table_status.SourceStatus],
    drifts: list[Drift],
) -> Group:
    parts = [_services_table(lines)]
    if sources:
        parts.append(_sources_table(sources))
    if tables:
        parts.append(_tables_table(tables))
    if drifts:
        parts.append(_drifts_table(drifts))
    return Group(*parts)


def _drifts_table(drifts: list[Drift]) -> Table:
    table = Table("drift", "what", "what now", box=None)
    for one in drifts:
        table.add_row(one.database, Text(one.what, "red"), Text(one.now))
    return table


def _sources_table(sources: list[table_status.SourceStatus]) -> Table:
    table = Table("source", "connector", "tasks", "slot", "retained WAL", "", box=None)
    for one in sources:
        retained = "" if one.retained_wal_bytes is None else f"{one.retained_wal_bytes / 2**20:.1f} MiB"
        connector = _coloured(one.connector, one.connector == "RUNNING")
        tasks = Text(", ").join(_coloured(task, task == "RUNNING") for task in one.tasks)
        table.add_row(one.database, connector, tasks, one.slot, retained, Text(one.reason))
    return table


def _tables_table(tables: list[table_status.TableStatus]) -> Table:
    table = Table("table", "state", "rows", "lag p50", "lag p95", "LSN", "last commit", "quarantine", "", box=None)
    for one in tables:
        lags = ["" if lag is None else f"{lag:.1f} s" for lag in (one.lag_p50_s, one.lag_p95_s)]
        ago = "" if one.committed_at is None else f"{max(0, time.time() - one.committed_at):.0f} s ago"
        rows = "" if one.rows is None else str(one.rows)
        state_text = _state(one.state)
        aside = _coloured(str(one.quarantined or ""), False)
        table.add_row(one.name, state_text, rows, *lags, one.lsn or "", ago, aside, Text(one.reason))
    return table


def _coloured(text: str, good: bool) -> Text:
    return Text(text, "green" if good else "red")


def _state(name: str) -> Text:
    return Text(name, "green" if name == "running" else "yellow" if name in ("starting", "waiting") else "red")


def _services_table(lines: list[state.ServiceStatus]) -> Table:
    table = Table("service", "state", "pid", "uptime", "memory", "", box=None)
    for line in lines:
        running = line.state == "running"
        facts = [str(line.pid), f"{line.uptime_s} s", f"{line.rss_bytes / 2**20:.0f} MiB"] if running else [""] * 3
        table.add_row(line.name, _state(line.state), *facts, Text(line.reason))
    total = sum(line.rss_bytes for line in lines)
    table.add_row("", "", "", "", f"{total / 2**20:.0f} MiB" if total else "", "")
    return table


def logs(
    service: str = typer.Argument(help="Name as in: lake status; supervisor-NAME for what keeps it"),
    follow: bool = typer.Option(False, "-f", "--follow", help="Keep printing what comes."),
    lines: int = typer.Option(100, "-n", "--lines", min=0, help="How many lines to begin with."),
    env: str = options.ENV,
) -> None:
    """Print the end of a service's log; on AWS of a pod's, whose name begins so: kafka-connect.

    Example: lake logs connect -f
    """
    if env != LOCAL:
        _logs_on_aws(env, service, lines, follow)
        return
    home = load_home()
    Stack(home).service(service.removeprefix(LOG_PREFIX))
    path = home.log(service)
    if not path.exists():
        raise LakeError(f"{service} has no log yet", str(path), "run: lake up")
    _print_log(path, lines, follow)


def _logs_on_aws(env: str, pod: str, lines: int, follow: bool) -> None:
    from lake.deployments.open import aws_place
    from lake.deployments.pod_logs import follow as follow_pods
    from lake.deployments.pod_logs import last

    found = aws_place(env)
    for line in last(found.account, env, pod, lines):
        print(line)
    if follow:
        follow_pods(found.account, env, pod, print)


def _print_log(path: Path, lines: int, follow: bool) -> None:
    with path.open(errors="replace") as file:
        print("".join(deque(file, lines)), end="", flush=True)
        while follow:
            print(file.read(), end="", flush=True)
            time.sleep(FOLLOW_S)


def endpoints(as_json: bool = typer.Option(False, "--json", help="Print facts for machines.")) -> None:
    """Show how to reach each service, passwords included.

    Example: psql $(lake endpoints --json | jq -r .postgres.dsn)
    """
    values = all_endpoints(load_home())
    if as_json:
        print(json.dumps(values, indent=2))
        return
    table = Table(box=None, show_header=False)
    for key, value in flat(values).items():
        table.add_row(key, Text(value))
    console.print(table)
