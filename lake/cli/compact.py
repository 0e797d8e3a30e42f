"""`lake compact`: asks the streaming job to compact and clean now, and waits until it has."""

import typer
from rich.console import Console

from lake.clients.stream_requests import await_done, request
from lake.config.home import load_home
from lake.config.names import named_targets
from lake.local.status import refuse_stopped
from lake.rendering.pipeline import read_pipeline

console = Console(highlight=False)


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("compact")(compact)


def compact(
    names: list[str] = typer.Argument(
        None, metavar="[DATABASE[.[SCHEMA.]TABLE]]...", help="Which tables; default all."
    ),
    timeout: float = typer.Option(300, "--timeout", min=1, help="Seconds to wait for the streaming job."),
) -> None:
    """Compact merge-on-read tables, clean old file versions and archive old commits, now.

    Without this the streaming job does it every service_commits commits (environments/), and four times as often for
    a partitioned merge-on-read table.
    Exit code 0 when it is done, 1 when it is not within the time, 2 if the input is wrong.

    Example: lake compact moma.artworks
    """
    home = load_home()
    targets = named_targets(read_pipeline(home.environment), names or [])
    refuse_stopped(home)
    asked = [request(home, target) for target in targets]
    with console.status("waiting for the streaming job") as line:
        await_done(home, asked, timeout, line.update)
    console.print(f"compacted and cleaned: {', '.join(path.name for path in asked)}")
