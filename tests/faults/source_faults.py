"""What is done to the source beside its rows."""

from dataclasses import dataclass

from tests.faults.process_faults import unwell
from tests.faults.rig import Rig
from tests.integration.lab import in_background


@dataclass
class Password:
    """The capture user's password is another one, and its sessions end."""

    name = "password changed"

    def inject(self, rig: Rig) -> None:
        rig.execute(
            "postgres",
            "ALTER ROLE lake_capture PASSWORD 'another'",
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'lake_capture'",
        )

    def heal(self, rig: Rig) -> None:
        rig.execute("postgres", f"ALTER ROLE lake_capture PASSWORD '{rig.home.secrets.lake_capture}'")

    def seen(self, rig: Rig) -> bool:
        return unwell(rig)


@dataclass
class Alter:
    """A column more, with values in the same transaction; on a table that somebody reads it waits for the reader."""

    name = "ADD COLUMN"

    def inject(self, rig: Rig) -> None:
        """On the newest database, which is the one that is read."""
        database = list(rig.databases)[-1]
        self._altered = in_background(lambda: self._alter(rig, database))

    def _alter(self, rig: Rig, database: str) -> None:
        for table in ("item", "account"):
            with rig.session(database) as connection:
                connection.execute(f"ALTER TABLE {table} ADD COLUMN extra text".encode())
                update = f"UPDATE {table} SET extra = 'new', version = 1 - id WHERE id BETWEEN 100001 AND 101000"
                connection.execute(update.encode())
                connection.commit()

    def heal(self, rig: Rig) -> None:
        self._altered()

    def seen(self, rig: Rig) -> bool:
        """It is no fault: nothing has to be told."""
        return True
