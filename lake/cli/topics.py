"""`lake topics`: what Kafka holds, asked by the same Spark job wherever the lake runs."""

import json

import typer
from rich.console import Console
from rich.table import Table

from lake.aws.environment import LOCAL
from lake.cli import options
from lake.config.home import load_home
from lake.deployments.open import aws_place
from lake.local.spark_job import run_job

console = Console(highlight=False)


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("topics")(topics)


def topics(env: str = options.ENV, as_json: bool = options.JSON) -> None:
    """Show the topic of each captured table: partitions, and the offsets between which its changes lie.

    Exit code 0, or 1 when a topic is not there yet. On AWS a step of EMR asks, which takes a minute.

    Example: lake topics --env dev
    """
    found = run_job(load_home(), "topics", [])["topics"] if env == LOCAL else aws_place(env).topics(options.say)
    if as_json:
        print(json.dumps(found, indent=2))
    else:
        table = Table("topic", "partitions", "messages", "offsets", box=None)
        for one in found:
            ends = ", ".join(f"{one['begin'][number]} to {end}" for number, end in one["end"].items())
            table.add_row(one["topic"], str(one["partitions"] or "absent"), str(one["messages"]), ends)
        console.print(table)
    raise typer.Exit(0 if all(one["partitions"] for one in found) else 1)
