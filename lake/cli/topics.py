"""`lake topics`: the topics in Kafka, read by the same Spark job on this machine and on AWS."""

from typing import Any

import typer

from lake.cli import options
from lake.deployments.open import open_deployment


def topics(env: str = options.ENV, as_json: bool = options.JSON) -> None:
    """Show the topic of each captured table: its partitions, and the first and last offset of its changes.

    Exit code 0, or 1 if a topic does not exist yet. On AWS an EMR step reads them, which takes a minute.

    Example: lake topics --env dev
    """
    with options.lines("reading the topics") as report:
        found = open_deployment(env).topics(report)
    if as_json:
        options.print_json(found)
    else:
        columns = ["topic", "partitions", "messages", "offsets"]
        options.out.print(options.table(columns, map(_row, found)))
    raise typer.Exit(0 if all(one["partitions"] for one in found) else 1)


def _row(one: dict[str, Any]) -> list[str]:
    ends = ", ".join(f"{one['begin'][number]} to {end}" for number, end in one["end"].items())
    return [one["topic"], str(one["partitions"] or "absent"), str(one["messages"]), ends]
