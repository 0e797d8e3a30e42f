"""`lake compact`: requests compaction and cleaning from the streaming job, and waits for them."""

from lake.cli import options
from lake.clients.stream_control import COMPACT, ask_stream
from lake.config.environment import load_environment
from lake.config.names import named_targets
from lake.local.status import refuse_stopped
from lake.rendering.pipeline import read_pipeline


def compact(names: list[str] = options.TABLES, timeout: float = options.STREAM_TIMEOUT) -> None:
    """Compact merge-on-read tables, clean old file versions and archive old commits, now.

    The streaming job also does it by itself, every service_commits commits (environments/), and four times as often for
    a partitioned merge-on-read table.
    Exit code 0 when it is done, 1 if it is not done in time, 2 if the input is wrong.

    Example: lake compact moma.artworks
    """
    home = load_environment()
    targets = named_targets(read_pipeline(home), names or [])
    refuse_stopped(home)
    requests = {target: (COMPACT, {"table": target}) for target in targets}
    with options.progress("waiting for the streaming job") as report:
        ask_stream(home, requests, timeout, report)
    options.out.print(f"compacted and cleaned: {', '.join(targets)}")
