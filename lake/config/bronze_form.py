"""The form of a table's archive, where it is not the usual one: Avro files of consecutive messages, by partition."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, Field, StrictBool, StrictInt
from pydantic.dataclasses import dataclass

from lake.config.identifiers import source_name

PARTITION, DAY = "partition", "day"
LAYOUTS = (PARTITION, DAY)


def _layout(given: Any) -> str | tuple[str, ...]:
    if given in LAYOUTS:
        return str(given)
    if not isinstance(given, list | tuple) or not given or not all(isinstance(name, str) for name in given):
        raise ValueError(f"{given!r} is not a layout | write partition, day, or columns in brackets: [country]")
    if len(set(given)) < len(given):
        raise ValueError(f"a column of {list(given)} is written twice | write it once")
    return tuple(source_name(name) for name in given)


@dataclass(frozen=True, kw_only=True, config=ConfigDict(extra="forbid"))
class BronzeForm:
    """Format, folders and greatest file of an archive. by: "partition", "day" (of Kafka's time, in UTC), or columns."""

    format: Literal["avro", "parquet", "json"] = "avro"
    by: Annotated[Any, AfterValidator(_layout)] = PARTITION
    max_records: Annotated[StrictInt, Field(ge=1)] | None = None  # of a file; default: bronze.max_records
    catalog: StrictBool = False  # a table of the catalog shows the archive

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that name the folders."""
        return () if self.by in LAYOUTS else tuple(self.by)

    def entry(self, columns: tuple[str, ...]) -> dict[str, Any]:
        """Its entry in the pipeline file: what is not as usual. columns: as the lake names them."""
        by = list(columns) or self.by
        said = {"format": self.format, "by": by, "max_records": self.max_records}
        usual = {"format": "avro", "by": PARTITION, "max_records": None}
        return {key: value for key, value in said.items() if value != usual[key]}
