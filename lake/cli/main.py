"""The `lake` command: parses, calls, prints; the one place where errors become exit codes."""

import signal
import sys
from types import FrameType

import typer

from lake.cli import (
    compact,
    connectors,
    cost,
    demo,
    images,
    init,
    jobs,
    load,
    operations,
    package,
    plan,
    quarantine,
    recover,
    refine,
    resnapshot,
    services,
    sql,
    status,
    streamer,
    topics,
    verify,
)
from lake.config.errors import LakeError

INTERRUPTED = 130

app = typer.Typer(
    name="lake",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
COMMANDS = (
    *(services.up, services.down, services.restart, status.status, services.logs, services.endpoints),
    *(
        init.init,
        plan.plan,
        plan.apply,
        sql.sql,
        compact.compact,
        verify.verify,
        resnapshot.resnapshot,
        recover.recover,
    ),
    *(refine.refine, demo.demo, operations.teardown, operations.rebuild, topics.topics, cost.cost, images.images),
    package.package,
)
GROUPS = (load.load, streamer.app, quarantine.quarantine, jobs.jobs, connectors.connectors)
for command in COMMANDS:
    app.command()(command)
for group in GROUPS:
    app.add_typer(group)


@app.callback()
def options(verbose: bool = typer.Option(False, "--verbose", help="Show the traceback of an error.")) -> None:
    """A change-data-capture lake: PostgreSQL through Kafka into Hudi tables."""


def main() -> None:
    """Run the command line; exits with 0, the code of a LakeError, 2 for wrong usage or 130 for Ctrl-C."""
    signal.signal(signal.SIGINT, _interrupted)
    try:
        app(prog_name="lake")
    except LakeError as error:
        _fail(error)
    except Exception as error:
        # boto3's errors by their name: to load it takes longer than most commands take.
        if not type(error).__module__.startswith("botocore."):
            raise
        _fail(LakeError(f"AWS: {error}", "the account of the credentials", "correct it, then run it again"))


def _fail(error: LakeError) -> None:
    if "--verbose" in sys.argv:
        raise error
    print(f"lake: {error}", file=sys.stderr)
    sys.exit(error.exit_code)


def _interrupted(number: int, frame: FrameType | None) -> None:
    sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
