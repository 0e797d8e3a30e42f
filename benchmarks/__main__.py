"""`make bench`: measures the figures of docs/measured.md, each with its bar; a missed bar gives exit code 1."""

import json
import signal
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import typer

from benchmarks import (
    among,
    commits,
    footprint,
    freshness,
    machine,
    many,
    processor_time,
    quiet,
    rebuild,
    recovery,
    s3_requests,
    sales,
    throughput,
)
from lake.config.errors import LakeError

app = typer.Typer(add_completion=False, no_args_is_help=False)
# These report themselves whether they meet their bar.
ALONE: dict[str, Callable[[], dict[str, Any]]] = {
    "quiet": quiet.measure,
    "footprint": footprint.measure,
    "rebuild": rebuild.measure,
    "recovery": recovery.measure,
    "commits": commits.measure,
    "commits_cow": partial(commits.partitioned, "cow"),
    "commits_mor": partial(commits.partitioned, "mor"),
    "requests": s3_requests.measure,
    "sales": sales.measure,
    "profile": processor_time.measure,
    "many50": partial(many.busy, 50),
    "many100": partial(many.busy, 100),
    "rest100": many.rest,
    "new100": many.new,
    "among200": among.measure,
}
NAMES = ("freshness1", "freshness5", "throughput", *ALONE)


@app.command()
def main(only: list[str] = typer.Argument(None, help=f"Some of: {', '.join(NAMES)}; default all.")) -> None:
    """Run the benchmarks one after the other, each on a new lake.

    Example: python -m benchmarks freshness1 throughput
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that SIGTERM stops the lake too
    try:
        results = {name: _beside_the_machine(name) for name in only or NAMES}
    except LakeError as error:
        print(f"bench: {error}", file=sys.stderr)
        raise typer.Exit(error.exit_code) from None
    print(json.dumps(results, indent=2))
    raise typer.Exit(0 if all(result["met"] for result in results.values()) else 1)


def _beside_the_machine(name: str) -> dict[str, Any]:
    """The figures, together with the machine's speed before and after."""
    before = machine.loop_s()
    figures = {**_measure(name), "machine_loop_s": [before, machine.loop_s()]}
    print(json.dumps({name: figures}), file=sys.stderr)  # print now: a later benchmark may fail
    return figures


def _measure(name: str) -> dict[str, Any]:
    if name == "throughput":
        figures = throughput.measure()
        return {**figures, "met": figures["parity"] and figures["per_s"] >= figures["bar_per_s"]}
    if name in ALONE:
        return ALONE[name]()
    if name not in NAMES:
        raise typer.BadParameter(f"no benchmark '{name}'; there are {', '.join(NAMES)}")
    figures = freshness.measure(int(name[-1]))
    return {**figures, "met": freshness.met(figures)}


if __name__ == "__main__":
    app()
