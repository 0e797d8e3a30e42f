"""Alarms, logs, query limits and budget of an AWS environment."""

from typing import Annotated, Literal

from pydantic import Field, StrictBool, StrictStr, model_validator

from lake.aws.part import Count, Part, Role
from lake.aws.schedule import Schedule


class Catalog(Part):
    """How Athena may be used, and who may read the tables."""

    scan_limit_gb: Count = 10  # a query that would read more is stopped
    results_days: Count = 30
    # True: Lake Formation decides who may read the tables. False: the policies of each role do.
    lake_formation: StrictBool = False
    readers: tuple[Role, ...] = ()  # roles of this account that Lake Formation lets read all tables

    @model_validator(mode="after")
    def _readers_are_let_in(self) -> "Catalog":
        if self.readers and not self.lake_formation:
            raise ValueError("readers without lake_formation | write lake_formation: true, or remove readers")
        return self


class Operations(Part):
    """Alarms: their receiver and their limits."""

    email: Annotated[StrictStr, Field(pattern=r"^[^@\s]+@[^@\s]+\.[a-z]+$")] | None = None
    budget_usd: Count
    freshness_s: Count = 60  # the alarm is raised if the newest change of a table is older than this for five minutes
    # Files of tables for analysts (lake refine), relative to the project's folder: each is a routine refine-<name>.
    refine: tuple[Annotated[StrictStr, Field(min_length=1)], ...] = ()
    # When a routine is added to the cluster as a step, by its name: verify, compact, bulk-load or refine-<name>.
    schedule: dict[Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]*$")], Schedule] = Field(default_factory=dict)
    log_days: Literal[1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731] = 30
