"""The buckets of an AWS environment."""

from typing import Annotated

from pydantic import Field, StrictInt, model_validator

from lake.aws.part import Part

# S3 moves no object to Standard-IA earlier, and none on from there to Glacier earlier than this after it.
LEAST_DAYS = 30
Days = Annotated[StrictInt, Field(ge=1, le=3650)]


class Tiering(Part):
    """After how many days an object moves to a cheaper class. Both classes answer at once, and charge for reading.

    Classes that must be restored first are not offered: HoodieStreamer and a replay read the whole archive.
    """

    infrequent_access_days: Annotated[Days, Field(ge=LEAST_DAYS)] | None = None  # S3 Standard-IA
    glacier_ir_days: Days | None = None  # S3 Glacier Instant Retrieval

    @model_validator(mode="after")
    def _in_order(self) -> "Tiering":
        first, second = self.infrequent_access_days, self.glacier_ir_days
        if first is None and second is None:
            raise ValueError("no days | write infrequent_access_days or glacier_ir_days, or both")
        if first is not None and second is not None and second < first + LEAST_DAYS:
            raise ValueError(
                f"glacier_ir_days {second} is less than {LEAST_DAYS} days after infrequent_access_days {first} | "
                f"S3 refuses it: write {first + LEAST_DAYS} or more"
            )
        return self


class Storage(Part):
    """How long objects stay in which class."""

    bronze_tiering: Tiering | None = None
