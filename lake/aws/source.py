"""The source database of an AWS environment: a new RDS instance, or a PostgreSQL that exists."""

from typing import Annotated

from pydantic import Field, StrictBool, StrictInt, StrictStr, model_validator

from lake.aws.part import Count, GroupId, Part
from lake.sources.postgres import roles as roles

Port = Annotated[StrictInt, Field(ge=1, le=65535)]


SIZES = {"micro": 0.125, "small": 0.25, "medium": 0.5, "large": 1.0}  # large is 1
GB_OF_LARGE = {"r": 16.0, "x": 32.0}  # of memory, by the first letter of the class; all others have 8
PER_CONNECTION, MOST_CONNECTIONS = 9531392, 5000  # RDS's own default of max_connections


class ExistingDatabase(Part):
    """An existing PostgreSQL. User and password of its administrator are in Secrets Manager."""

    host: Annotated[StrictStr, Field(pattern=r"^[a-z0-9][a-z0-9.-]+$")]
    port: Port = 5432
    admin_secret: Annotated[StrictStr, Field(pattern=r"^[A-Za-z0-9/_+=.@-]+$")]  # its name, not its ARN
    # The key of that secret, by its id; none: Secrets Manager's own key.
    admin_key: Annotated[StrictStr, Field(pattern=r"^(mrk-)?[0-9a-f-]{32,36}$")] | None = None
    security_group: GroupId
    # The authority of the server's certificate, as PEM. The authorities of RDS are known.
    ca_file: Annotated[StrictStr, Field(min_length=1)] | None = None


class Source(Part):
    """The database whose changes are captured."""

    instance: Annotated[StrictStr, Field(pattern=r"^db\.[a-z][a-z0-9]+\.(micro|small|medium|[0-9]*x?large)$")] = (
        "db.t4g.medium"
    )
    storage_gb: Annotated[StrictInt, Field(ge=20, le=65536)] = 50
    multi_az: StrictBool = False
    backup_days: Annotated[StrictInt, Field(ge=0, le=35)] = 1
    # The log that an unread slot may retain. At this size it is dropped, before it fills the disk.
    max_slot_wal_gb: Count = 16
    existing: ExistingDatabase | None = None

    @model_validator(mode="after")
    def _fits(self) -> "Source":
        if self.existing:
            self.refuse_beside("existing", set(type(self).model_fields) - {"existing"})
        elif self.max_slot_wal_gb > self.storage_gb // 2:
            raise ValueError(
                f"max_slot_wal_gb {self.max_slot_wal_gb} is more than half of storage_gb {self.storage_gb} | "
                "a waiting slot could fill the disk and stop the database: lower it"
            )
        return self


def max_connections(instance: str) -> int:
    """The connections that RDS allows at most on a class such as db.r7g.2xlarge, which keeps a tenth of the memory."""
    _, family, size = instance.split(".")
    large = GB_OF_LARGE.get(family[0], 8.0)
    count = int(size.removesuffix("xlarge") or 1) * 2.0 if size.endswith("xlarge") else SIZES[size]
    return min(int(0.9 * count * large * 1024**3 / PER_CONNECTION), MOST_CONNECTIONS)
