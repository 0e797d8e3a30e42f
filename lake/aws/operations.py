"""Alarms, logs, query limits and budget of an AWS environment."""

from typing import Annotated, Literal

from pydantic import Field, StrictStr

from lake.aws.part import Count, Part


class Catalog(Part):
    """How Athena may be used."""

    scan_limit_gb: Count = 10  # a query that would read more is stopped
    results_days: Count = 30


class Operations(Part):
    """Alarms: their receiver and their limits."""

    email: Annotated[StrictStr, Field(pattern=r"^[^@\s]+@[^@\s]+\.[a-z]+$")] | None = None
    budget_usd: Count
    freshness_s: Count = 60  # the alarm is raised if the newest change of a table is older than this for five minutes
    log_days: Literal[1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731] = 30
