"""The form of an archive: the format of its files, the folders that they are in, and how many messages a file holds.

By default a file holds consecutive messages of a partition, in Avro. By the day, it holds consecutive messages that
Kafka received on one day in UTC. By columns, it holds messages with equal values in them, and gaps between them.
"""

import json
from typing import Any, Dict, NamedTuple, Tuple, Union

from spark_jobs.runtime.pipeline import Table

PARTITION, DAY = "partition", "day"
SUFFIXES = {"avro": ".avro", "parquet": ".gz.parquet", "json": ".json"}
OPTIONS = {"parquet": {"compression": "gzip"}, "json": {"ignoreNullFields": "false"}}
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"  # Hive's name for the folder of NULL
# What Hive writes as %XX in the name of a folder, besides control characters: FileUtils.escapePathName.
ESCAPED = set("\"#%'*/:=?\\\x7f{[]^")


class Form(NamedTuple):
    """by: "partition", "day", or the columns that name the folders; max_records of a file: 0 as for all archives."""

    format: str = "avro"
    by: Union[str, Tuple[str, ...]] = PARTITION
    max_records: int = 0

    @property
    def columns(self) -> Tuple[str, ...]:
        """The columns that name the folders."""
        return () if isinstance(self.by, str) else self.by

    @property
    def suffix(self) -> str:
        return SUFFIXES[self.format]

    @property
    def options(self) -> Dict[str, str]:
        """The options of the writer of this format."""
        return OPTIONS.get(self.format, {})

    def folder(self, partition: int, value: str) -> str:
        """The folder of a file. value: the day as 2026-11-29, or the texts of the columns as a JSON array."""
        if self.by == PARTITION:
            return "partition={}".format(partition)
        if self.by == DAY:
            return "year={}/month={}/day={}".format(*value.split("-"))
        texts = json.loads(value)
        return "/".join("{}={}".format(name, _named(text)) for name, text in zip(self.columns, texts))


PLAIN = Form()


def form_of(table: Table) -> Form:
    """The form of the archive of a table."""
    given: Dict[str, Any] = dict(table.bronze or {})
    by = given.get("by", PARTITION)
    return Form(given.get("format", "avro"), by if isinstance(by, str) else tuple(by), given.get("max_records") or 0)


def _named(text: Any) -> str:
    """The name of the folder of a value, as Hive writes it."""
    if text in (None, ""):
        return NO_VALUE
    return "".join("%{:02X}".format(ord(one)) if one in ESCAPED or one < " " else one for one in text)
