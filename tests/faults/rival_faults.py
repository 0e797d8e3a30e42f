"""Rivals: a second connector, a second job, or a foreign cleaner, which do the work of the lake's own."""

from dataclasses import dataclass

import httpx
from py4j.protocol import Py4JJavaError

from tests.faults.rig import Rig


@dataclass
class SecondConnector:
    """A connector of another name that reads the same slot."""

    database: str
    name = "second connector on one slot"

    def inject(self, rig: Rig) -> None:
        config = httpx.get(f"{self._address(rig, '')}/config", trust_env=False, auth=rig.home.connect_login).json()
        second = {**config, "name": f"{config['name']}_second"}
        httpx.put(
            f"{self._address(rig, '_second')}/config",
            json=second,
            trust_env=False,
            auth=rig.home.connect_login,
            timeout=60,
        )

    def heal(self, rig: Rig) -> None:
        httpx.delete(self._address(rig, "_second"), trust_env=False, auth=rig.home.connect_login, timeout=60)

    def seen(self, rig: Rig) -> bool:
        return any("_second has the topic.prefix" in drift for drift in rig.drifts(self.database))

    def _address(self, rig: Rig, ending: str) -> str:
        return f"{rig.home.connect}/connectors/{rig.connector(self.database)}{ending}"


@dataclass
class SecondJob:
    """The very command of the streaming job, once more: it must go away by itself and say who writes."""

    name = "second streaming job"

    def inject(self, rig: Rig) -> None:
        self._done = rig.lake.second_job()

    def heal(self, rig: Rig) -> None:
        """It is gone already."""

    def seen(self, rig: Rig) -> bool:
        return self._done.returncode == 1 and "is written by stream local-" in self._done.stdout


@dataclass
class Cleaner:
    """A cleaner that is not the lake's own, as somebody runs it from a session of Spark.

    It makes a metadata table, which the lake's next commit takes away: it may fail of that, its cleaning half done.
    """

    database: str
    name = "somebody's cleaner"

    def inject(self, rig: Rig) -> None:
        for name in (f"{self.database}_cow.account", f"{self.database}_mor.account_rt"):
            try:
                rig.spark.sql(f"CALL run_clean(table => '{name}', retain_commits => 5)").collect()
            except Py4JJavaError as error:
                if "Failed to apply clean commit to metadata" not in str(error.java_exception):
                    raise

    def heal(self, rig: Rig) -> None:
        """It is gone already."""

    def seen(self, rig: Rig) -> bool:
        """It may: what it takes away is the past."""
        return True
