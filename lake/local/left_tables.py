"""The Hudi tables that the lake holds and nothing writes: their definition is gone, or names another type."""

from dataclasses import dataclass
from pathlib import Path

from lake.clients.table_status import TableStatus
from lake.config.environment import Environment
from lake.rendering.pipeline import read_pipeline

KINDS = ("_cow", "_mor")
LEFT = (
    "its definition is gone, or names another type, so it gets no more changes; "
    "write that again to go on, or drop it in the catalog and remove {}"
)


@dataclass(frozen=True)
class LeftTable:
    """name: as lake status names a Hudi table. path: its folder."""

    name: str
    path: str

    @property
    def status(self) -> TableStatus:
        return TableStatus(self.name, "left", None, None, None, None, None, LEFT.format(self.path))


def left_tables(home: Environment) -> list[LeftTable]:
    """By name; they stay until somebody removes their folders."""
    written = {target["path"] for table in read_pipeline(home).get("tables", []) for target in table["targets"]}
    bucket = home.data / "s3" / home.bucket
    found = {_uri(home, bucket, folder): folder for folder in sorted(bucket.glob("silver/*/*/.hoodie"))}
    return [
        LeftTable(_name(folder.parent), path)
        for path, folder in found.items()
        if path not in written and folder.parent.name.endswith(KINDS)
    ]


def _uri(home: Environment, bucket: Path, folder: Path) -> str:
    return f"{home.bucket_uri}/{folder.parent.relative_to(bucket)}"


def _name(folder: Path) -> str:
    table, _, kind = folder.name.rpartition("_")
    return f"{folder.parent.name}_{kind}.{table}"
