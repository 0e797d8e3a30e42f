"""Draws what the jobs about sales kept on S3 (docs/sales.md) as two SVG files.

.venv/bin/python tools/sales_plots.py --folder plots
"""

import csv
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import boto3
import pygal
import typer

from lake.aws.environment import LOCAL, load_aws_environment
from lake.config.definition import load_databases
from lake.config.environment import PROJECT, load_environment
from lake.config.errors import BadInput, LakeError
from lake.deployments.account import Account
from lake.deployments.steps import Steps
from lake.rendering.sales import FOLDER

COUNTRIES = 8  # so many lines can be told apart
BATCH = re.compile(r"/batch=(\d+)/part-[^/]+\.csv$")
Rows = list[dict[str, str]]
Batches = dict[int, Rows]  # by number, oldest first


def main(
    env: str = typer.Option("local", "--env", "-e", help="The file environments/<name>.yaml."),
    folder: Path = typer.Option(Path("plots"), "--folder", help="Where the files are written."),
) -> None:
    """Draw the running totals by country, and the totals by region and window."""
    s3, bucket = storage(env)
    found = {
        "running_totals.svg": running_totals(batches(s3, bucket, "sales-console")),
        "regions_by_window.svg": regions_by_window(last(batches(s3, bucket, "sales-region-windows"))),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, chart in found.items():
        chart.render_to_file(str(folder / name))
        print(folder / name)


def storage(env: str) -> tuple[Any, str]:
    """The S3 of a lake, and the bucket of the results."""
    if env != LOCAL:
        environment = load_aws_environment(PROJECT, env)
        account = Account(environment.region)
        return account.client("s3"), Steps(account, environment, load_databases(PROJECT)).outputs().places["silver"]
    home = load_environment()
    keys = dict(zip(("aws_access_key_id", "aws_secret_access_key"), home.secrets.s3_keys.values(), strict=True))
    return boto3.client("s3", endpoint_url=home.s3, region_name="us-east-1", **keys), home.bucket


def batches(s3: Any, bucket: str, job: str) -> Batches:
    """All batches that a stream kept as CSV. BadInput if there is none."""
    found: Batches = {}
    for page in s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=f"{FOLDER}/{job}/"):
        for one in page.get("Contents", []):
            if number := BATCH.search(one["Key"]):
                text = s3.get_object(Bucket=bucket, Key=one["Key"])["Body"].read().decode("utf-8")
                found[int(number[1])] = list(csv.DictReader(text.splitlines(), delimiter="|"))
    if not found:
        raise BadInput(f"{job} kept nothing as CSV", f"s3://{bucket}/{FOLDER}/{job}", f"run: lake jobs submit {job}")
    return dict(sorted(found.items()))


def last(found: Batches) -> Rows:
    return found[max(found)]


def running_totals(found: Batches) -> pygal.Line:
    """The sales of the largest countries after each batch. found: rows with country, sales, at."""
    largest = sorted(last(found), key=lambda row: -float(row["sales"]))[:COUNTRIES]
    chart = _drawn(pygal.Line, "Sales by country", [rows[0]["at"] for rows in found.values()])
    for country in (row["country"] for row in largest):
        chart.add(country, [_of(rows, country=country) for rows in found.values()])
    return chart


def regions_by_window(rows: Rows) -> pygal.StackedBar:
    """The sales of each region in each window. rows: with region, sales, window_start."""
    starts = sorted({row["window_start"] for row in rows})
    chart = _drawn(pygal.StackedBar, "Sales by region, in windows of 10 minutes that start at", starts)
    for region in sorted({row["region"] for row in rows}):
        chart.add(region, [_of(rows, region=region, window_start=start) for start in starts])
    return chart


def _of(rows: Iterable[Mapping[str, str]], **wanted: str) -> float | None:
    """The sales of the row with these values; None without one."""
    found: Iterator[float] = (float(row["sales"]) for row in rows if all(row[key] == wanted[key] for key in wanted))
    return next(found, None)


def _drawn(kind: Any, title: str, moments: Sequence[str]) -> Any:
    # js: by default the file loads a script from another server when it is opened.
    chart = kind(title=title, js=(), legend_at_bottom=True, x_label_rotation=30, truncate_legend=-1)
    chart.x_labels = [moment[:16].replace("T", " ") for moment in moments]
    return chart


if __name__ == "__main__":
    try:
        typer.run(main)
    except LakeError as error:
        print(f"sales_plots: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
