"""`lake compact`: asks the streaming job to compact and clean now, and waits until it has."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from lake.errors import BadInput, LakeError
from lake.local.home import Home, load_home
from lake.rendering.pipeline import read_pipeline
from lake.status import services

POLL_S = 0.2
console = Console(highlight=False)


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("compact")(compact)


def compact(
    names: list[str] = typer.Argument(None, metavar="[DATABASE[.TABLE]]...", help="Which tables; default all."),
    timeout: float = typer.Option(300, "--timeout", min=1, help="Seconds to wait for the streaming job."),
) -> None:
    """Compact merge-on-read tables, clean old file versions and archive old commits, now.

    Without this the streaming job does it every service_commits commits (environments/).
    Exit code 0 when it is done, 1 when it is not within the time, 2 if the input is wrong.

    Example: lake compact moma.artworks
    """
    home = load_home()
    targets = chosen(read_pipeline(home.environment), names or [])
    refuse_stopped(home)
    asked = [request(home, target) for target in targets]
    with console.status("waiting for the streaming job") as line:
        await_done(home, asked, timeout, line.update)
    console.print(f"compacted and cleaned: {', '.join(path.name for path in asked)}")


def chosen(pipeline: dict[str, Any], names: list[str]) -> list[str]:
    """The Hudi tables ("moma_mor.artworks") of the named databases and tables; BadInput for an unknown name."""
    known = {
        f"{table['database']}.{table['table']}": [
            f"{table['database']}_{target['type']}.{table['table']}" for target in table["targets"]
        ]
        for table in pipeline.get("tables", [])
    }
    if not known:
        raise BadInput("the lake has no tables yet", "the pipeline file", "run: lake apply")
    for name in names:
        if not any(_means(name, table) for table in known):
            now = f"choose from: {', '.join(sorted(known))}"
            raise BadInput(f"there is no table or database '{name}' in the lake", "command line", now)
    wanted = [table for table in known if not names or any(_means(name, table) for name in names)]
    return [target for table in wanted for target in known[table]]


def _means(name: str, table: str) -> bool:
    return name in (table, table.partition(".")[0])


def request(home: Home, target: str) -> Path:
    """The file whose presence asks, and whose absence answers (spark_jobs/services.py)."""
    path = home.data / "requests" / target
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    return path


def refuse_stopped(home: Home) -> None:
    """LakeError when nobody would honour a request."""
    if not any(line.name == "stream" and line.state == "running" for line in services(home)):
        raise LakeError("the streaming job, which would do it, does not run", "stream", "run: lake up")


def await_done(home: Home, asked: list[Path], timeout_s: float, report: Callable[[str], None]) -> None:
    """Returns once no request is left; LakeError names those that are, which stay asked for."""
    deadline = time.monotonic() + timeout_s
    while left := [path.name for path in asked if path.exists()]:
        if time.monotonic() > deadline:
            what = f"not compacted within {timeout_s:.0f} s: {', '.join(left)}"
            raise LakeError(what, str(home.logs / "stream.log"), "see: lake status, lake logs stream")
        report(f"{len(asked) - len(left)} of {len(asked)} done; waiting for {left[0]}")
        time.sleep(POLL_S)
