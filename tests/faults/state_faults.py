"""Faults of stored state: positions and the store of the registry are lost."""

from dataclasses import dataclass

from lake.clients import stream_status
from tests.faults.rig import Rig
from tests.integration import readers
from tests.rereading import read_again


@dataclass
class Rewind:
    """Duplicated delivery: the streaming job forgets its last batches, or all, and reads them again."""

    batches: int | None = None  # None: from offset 0; a batch counts as a hundred messages

    @property
    def name(self) -> str:
        again = "everything" if self.batches is None else f"the last {self.batches} batches"
        return f"{again} delivered again to silver"

    def inject(self, rig: Rig) -> None:
        rig.stack.supervisors["stream"].stop()

    def heal(self, rig: Rig) -> None:
        rig.stack.start("stream")
        for name, table in stream_status.reported(rig.home).items():
            end = table.get("offsets", {}).get("0", 0)
            read_again(rig.home, name, offset=0 if self.batches is None else max(0, end - 100 * self.batches))

    def seen(self, rig: Rig) -> bool:
        return True


@dataclass
class LostFile:
    """The newest file of an archive is gone: its messages are delivered again to the archive."""

    topic: str
    name = "the newest file of the archive is lost"

    def inject(self, rig: Rig) -> None:
        rig.stack.supervisors["stream"].stop()
        folder = readers.bucket_folder(rig.home) / readers.bronze_folder(self.topic)
        for newest in sorted(folder.glob("*.avro"))[-1:]:
            newest.unlink()

    def heal(self, rig: Rig) -> None:
        rig.stack.start("stream")

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
