"""The metastore: away for some commits, and with tables that somebody dropped and altered there."""

from dataclasses import dataclass
from typing import Any

import pytest

from tests.faults import evidence
from tests.faults.evidence import Evidence
from tests.faults.process_faults import Kill, Stop
from tests.faults.rig import Rig
from tests.faults.source import ACCOUNT
from tests.faults.trial import Entry, conclude, under_load
from tests.faults.workload import SOON, until

pytestmark = pytest.mark.faults
COMMITS = 10
COMMITTED_WITHIN_S = 300.0  # a table under load has one about every ten seconds


@dataclass
class Away(Stop):
    """Stopped, and COMMITS more of a table come meanwhile."""

    service: str = "metastore"
    database: str = ""

    def inject(self, rig: Rig) -> None:
        super().inject(rig)
        before = self._commits(rig)
        until(
            lambda: len(self._commits(rig) - before) >= COMMITS,
            "tables are not written without the metastore",
            COMMITTED_WITHIN_S,
        )

    def _commits(self, rig: Rig) -> set[str]:
        return set(evidence.commits(rig.home, self.database, ACCOUNT, "mor"))


@pytest.mark.matrix("29", f"metastore away for {COMMITS} commits that bring columns, then killed")
def test_away(rig: Rig, entry: Entry, shop: str) -> None:
    found = under_load(rig, entry, shop, Away(database=shop), Kill("metastore"), grows_at=SOON)
    assert unlike(rig, shop, found) == []


@pytest.mark.matrix("29", "tables are dropped and altered in the metastore by hand, until lake compact")
def test_altered_by_hand(rig: Rig, entry: Entry, small: str) -> None:
    """The data stay where they are, and so they are asked for by name again."""
    rig.execute(small, "ALTER TABLE account ADD extra text", "UPDATE account SET extra = 'x', version = version + 1000")
    found = conclude(rig, entry, small, [])
    client = metastore(rig)
    client.dropTable(f"{small}_cow", "account", False, True)
    view = client.getTable(f"{small}_mor", "account_rt")
    view.getSd().setCols([column for column in view.getSd().getCols() if column.getName() != "extra"])
    client.alter_table(f"{small}_mor", "account_rt", view)
    entry.injected += ["table dropped", "column dropped"]
    assert unlike(rig, small, found) == [f"{small}_cow.account"]
    assert "extra" not in columns(client, small)
    rig.lake.run("compact", small)
    assert unlike(rig, small, found) == []
    assert "extra" in columns(client, small)


def metastore(rig: Rig) -> Any:
    """A client of its own: Spark's own commands would see to the data, too."""
    hive: Any = rig.spark._jvm.org.apache.hadoop.hive
    conf = hive.conf.HiveConf()
    conf.set("hive.metastore.uris", rig.home.metastore)
    return hive.metastore.HiveMetaStoreClient(conf)


def columns(client: Any, database: str) -> list[str]:
    """Of the view that was altered, as Hive and Athena see them: Spark looks into the table itself."""
    return [column.getName() for column in client.getTable(f"{database}_mor", "account_rt").getSd().getCols()]


def unlike(rig: Rig, database: str, found: dict[str, Evidence]) -> list[str]:
    """The tables that by name are not what they are by path."""
    names = {
        f"{database}_{kind}.{name}{'_rt' if kind == 'mor' else ''}": (one, kind)
        for name, one in found.items()
        for kind in one.table.types
    }
    return [name for name, (one, kind) in names.items() if by_name(rig, name, one) != prints(one.lake[kind])]


def by_name(rig: Rig, name: str, one: Evidence) -> set[str] | None:
    if not rig.spark.catalog.tableExists(name):
        return None
    rig.spark.catalog.refreshTable(name)
    return prints(evidence.versions(one.table, rig.spark.table(name)))


def prints(versions: list[evidence.Version]) -> set[str]:
    return {repr((one.key, one.deleted, sorted(one.row.items()))) for one in versions}
