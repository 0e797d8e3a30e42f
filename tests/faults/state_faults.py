"""Faults of stored state: checkpoints and the store of the registry are lost."""

import os
from dataclasses import dataclass

from lake.clients import stream_status
from tests.faults.rig import Rig
from tests.rereading import read_again


@dataclass
class Rewind:
    """Duplicated delivery: the streaming job forgets its last batches, or all, and reads them again."""

    batches: int | None = None  # None: from offset 0; of tables, a batch counts as a hundred messages
    layers: tuple[str, ...] = ("silver",)
    only: str = ""  # a part of the name

    @property
    def name(self) -> str:
        again = "everything" if self.batches is None else f"the last {self.batches} batches"
        return f"{again} delivered again to {' and '.join(self.layers)}"

    def inject(self, rig: Rig) -> None:
        rig.stack.supervisors["stream"].stop()
        for folder in (rig.home.data / "checkpoints" / "bronze").rglob("offsets") if "bronze" in self.layers else ():
            if self.only in str(folder):
                self._forget(folder)

    def _forget(self, offsets: os.PathLike[str]) -> None:
        folder = os.fspath(offsets)
        numbers = sorted(int(name) for name in os.listdir(folder) if name.isdigit())
        for number in numbers if self.batches is None else numbers[-self.batches :]:
            for part in (folder, os.path.join(os.path.dirname(folder), "commits")):
                for name in (str(number), f".{number}.crc"):
                    path = os.path.join(part, name)
                    if os.path.exists(path):
                        os.remove(path)

    def heal(self, rig: Rig) -> None:
        rig.stack.start("stream")
        if "silver" in self.layers:
            for name, table in stream_status.reported(rig.home).items():
                end = table.get("offsets", {}).get("0", 0)
                read_again(rig.home, name, offset=0 if self.batches is None else max(0, end - 100 * self.batches))

    def seen(self, rig: Rig) -> bool:
        return True


@dataclass
class EmptyStore:
    """The registry comes back without its schemas, and the streaming job anew, so that it has to ask for them."""

    name = "registry with an empty store"

    def inject(self, rig: Rig) -> None:
        rig.stack.supervisors["registry"].stop()
        rig.execute(
            "postgres",
            "ALTER DATABASE registry RENAME TO registry_kept",
            "CREATE DATABASE registry OWNER registry",
        )
        rig.stack.start("registry")
        rig.lake.run("restart", "stream")

    def heal(self, rig: Rig) -> None:
        rig.stack.supervisors["registry"].stop()
        rig.execute(
            "postgres", "DROP DATABASE registry WITH (FORCE)", "ALTER DATABASE registry_kept RENAME TO registry"
        )
        rig.stack.start("registry")

    def seen(self, rig: Rig) -> bool:
        reasons = [one.get("reason") or "" for one in stream_status.reported(rig.home).values()]
        return any("is not in the registry" in reason for reason in reasons)
