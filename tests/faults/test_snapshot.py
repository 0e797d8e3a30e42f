"""What breaks or changes while a database is read for the first time, and sessions write to it."""

import pytest

from tests.faults import checker
from tests.faults.apart import Cut, FullDisk, isolated, own_disk
from tests.faults.faults import Fault
from tests.faults.process_faults import Kill, Pause, Stop, all_but_the_source
from tests.faults.rig import Rig
from tests.faults.source_faults import Alter, Password
from tests.faults.test_guardian import await_told, recovered
from tests.faults.trial import SNAPSHOT_SIZE, Entry, await_share, filled, in_snapshot, resume
from tests.integration.lab import in_background

pytestmark = pytest.mark.faults


def case(row: str, what: str, fault: Fault, share: float, hold_s: float = 2.0) -> object:
    return pytest.param(fault, share, hold_s, id=f"{what} {share}", marks=pytest.mark.matrix(row, "", phase="snapshot"))


@pytest.mark.parametrize(
    ("fault", "share", "hold_s"),
    [
        *(case("1", "kill -9 of Connect", Kill("connect"), share) for share in (0.1, 0.5, 0.9)),
        case("2", "kill -9 of the broker", Kill("kafka"), 0.3),
        case("3", "kill -9 of the registry", Kill("registry"), 0.1),
        case("4", "kill -9 of PostgreSQL", Kill("postgres"), 0.3),
        case("5", "kill -9 of the object store", Kill("s3"), 0.3),
        case("6", "kill -9 of the Spark driver", Kill("stream"), 0.9),
        case("8", "SIGSTOP of Connect", Pause("connect"), 0.5, 20.0),
        case("9", "packets dropped", Cut(("postgres", "kafka", "registry", "s3")), 0.3, 30.0),
        case("10", "disk full", FullDisk(), 0.3, 20.0),
        case("17", "ADD COLUMN, with values, to the table that is read, and to one that is not yet", Alter(), 0.3),
        case("20", "the password is changed and all sessions are ended", Password(), 0.3, 15.0),
        case("29", "metastore away", Stop("metastore"), 0.3, 20.0),
        case("33", "all but the source and the supervisors killed in one moment", all_but_the_source(), 0.5),
    ],
)
def test_broken(rig: Rig, entry: Entry, shop: str, fault: Fault, share: float, hold_s: float) -> None:
    """Other tables are streamed meanwhile: all services are at work."""
    if (isinstance(fault, Cut) and not isolated()) or (isinstance(fault, FullDisk) and not own_disk(rig)):
        pytest.skip("needs a network namespace and a disk of its own: make faults makes them")
    in_snapshot(rig, entry, fault, share, hold_s=hold_s)


@pytest.mark.matrix("17", "reported, although it happened before the first inspection: ", phase="snapshot")
@pytest.mark.parametrize(
    ("statement", "told"),
    [
        pytest.param(
            "ALTER TABLE item ADD extra int DEFAULT 7", "got the DEFAULT of extra", id="ADD COLUMN with a DEFAULT"
        ),
        pytest.param("ALTER TABLE item ALTER n TYPE int USING n + 0", "was rewritten", id="ALTER TYPE"),
    ],
)
def test_told(rig: Rig, entry: Entry, shop: str, statement: str, told: str) -> None:
    """The snapshot reads another table, and knows the columns of this one already."""
    database = filled(rig, SNAPSHOT_SIZE)
    try:
        applied = in_background(lambda: rig.capture(database))
        await_share(rig, f"{database}.public.account", 0.1, SNAPSHOT_SIZE)
        rig.execute(database, statement)
        entry.injected.append(statement)
        resume(rig, database, applied)
        await_told(rig, database, told)
        rig.lake.drain(database)
        lacking = list(checker.equality(rig.ends(database)["item"]))
        assert bool(lacking) is ("DEFAULT" in statement), lacking[:3]
        recovered(rig, database)
        for one in rig.ends(database).values():
            assert [*checker.equality(one), *checker.uniqueness(one)] == []
            entry.checked += len(one.source)
    finally:
        rig.remove(database)
