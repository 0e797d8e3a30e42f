"""`lake refine`: a table for analysts, in Parquet, made of the tables of the lake."""

from pathlib import Path

import typer

from lake.cli import options
from lake.config.refinement import read_refinement
from lake.deployments.open import open_deployment


def refine(
    file: Path = typer.Argument(metavar="FILE", help="A YAML file, or an SQL file with one query."),
    partition: list[str] = typer.Option([], "--partition", help="A column to partition by; may be repeated."),
    as_json: bool = options.JSON,
    env: str = options.ENV,
) -> None:
    """Write a table for analysts as Parquet, compressed with Snappy, and register it as refined.NAME.

    The YAML file has the keys name, partition (a list), and table or sql.
    table: pagila.public.film takes the live rows of a captured table, the newest
    version of each, without the lake's own columns. sql: is a query over the
    tables of the lake. An SQL file holds the query, and its name is the table's.

    Each run writes all rows to a new folder, and then switches the table to it.
    Exit code 0 when it is done, 1 if it fails, 2 if the input is wrong.

    Example: lake refine data/pagila/films_by_rating.yaml
    """
    wanted = read_refinement(file, partition)
    with options.progress(f"writing refined.{wanted.name}") as report:
        result = open_deployment(env).refine(wanted, report)
    if as_json:
        options.print_json(result)
        return
    options.out.print(f"refined.{wanted.name}: {result['rows']} rows in {result['path']}")
    for one in result["partitions"]:
        options.out.print(f"  {one['partition']}: {one['rows']} rows")
