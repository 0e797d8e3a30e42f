"""Trials on a lake of their own, in another time zone: its server is restored from a backup in the end."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import pytest
from pyspark.sql import SparkSession

from tests.faults.conftest import seed
from tests.faults.rig import Rig
from tests.faults.source import ACCOUNT, OTHER
from tests.faults.test_guardian import await_told, recovered
from tests.faults.trial import Entry
from tests.integration import readers
from tests.integration.test_types import GOLDEN, streamed
from tests.running_lake import RunningLake

pytestmark = pytest.mark.faults
PORTS = 28200
ZONE = "America/St_Johns"  # of the processes; half an hour beside all others
SOURCE_ZONE = "Australia/Lord_Howe"  # whose summer is half an hour
ZONED = """
CREATE TABLE zoned (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, at timestamptz, local timestamp, day date,
  clock timetz, made timestamptz DEFAULT timestamp '2024-04-07 01:45');
INSERT INTO zoned (at, local, day, clock) SELECT t, t::timestamp, t::date, t::timetz FROM (
  SELECT start + i * interval '15 minutes' AS t FROM generate_series(-8, 8) i, unnest(ARRAY[
    timestamptz '2024-03-10 05:30Z', '2024-11-03 04:30Z', '2024-04-06 15:00Z', '2024-10-05 15:30Z',
    '2024-03-31 01:00Z', '1911-03-10 23:50:39Z', '1883-11-18 16:59Z', '2038-01-19 03:14:08Z']) start) moments;
"""


@pytest.fixture(scope="module")
def abroad(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Iterator[Rig]:
    """It has no Spark session: what needs none can be asked."""
    lake = RunningLake(tmp_path_factory.mktemp("abroad"), PORTS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", ZONE)
        try:
            lake.run("up")
            yield Rig(lake, cast("SparkSession", None), seed(pytestconfig))
        finally:
            lake.remove()


@pytest.mark.matrix("26", "types and the ends of summer time, with database and processes in other time zones")
def test_time_zones(abroad: Rig, entry: Entry) -> None:
    golden = (Path(readers.__file__).with_name("golden_types.sql")).read_text(encoding="utf-8")
    abroad.execute("postgres", "CREATE DATABASE zones", f"ALTER DATABASE zones SET timezone = '{SOURCE_ZONE}'")
    abroad.execute("zones", golden, ZONED)
    names = [*GOLDEN, "zoned"]
    abroad.lake.define("zones", {f"public.{name}": {"key": ["id"]} for name in names})
    abroad.lake.apply()
    again = "INSERT INTO zoned (at, local, day, clock) SELECT at, local, day, clock FROM zoned"
    abroad.execute("zones", *streamed("golden_types"), *streamed("golden_defaults"), again)
    for proof in abroad.lake.json("verify", "zones")["tables"].values():
        assert proof["equal"], proof
        entry.checked += proof["rows"]["source"]
    # Not by the proof's own reading of either side.
    micros = "SELECT id, (extract(epoch FROM at) * 1000000)::bigint, extract(epoch FROM local)::bigint FROM zoned"
    stored = "SELECT id, unix_micros(at) AS at, unix_seconds(local) AS local FROM zones_mor.zoned_rt"
    assert sorted(tuple(row.values()) for row in abroad.lake.json("sql", stored)["rows"]) == sorted(
        (key, at, int(local)) for key, at, local in abroad.rows("zones", micros)
    )


@pytest.mark.matrix("12", "the server is restored from an older backup")
def test_restored(abroad: Rig, entry: Entry) -> None:
    database = "restored"
    abroad.create(database, (ACCOUNT, OTHER))
    abroad.capture(database)
    rows = "INSERT INTO account (id, version, note) SELECT i, i, {note} FROM generate_series({first}, {last}) i"
    abroad.execute(database, rows.format(note="'old'", first=1, last=100))
    abroad.reach(database)
    files = abroad.home.data / "postgres"
    backup = files.with_name("backup")
    with server_stopped(abroad):
        shutil.copytree(files, backup, copy_function=shutil.copy2)
    abroad.execute(
        database,
        "UPDATE account SET note = 'lost' WHERE id > 50",
        "DELETE FROM account WHERE id <= 10",
        rows.format(note="repeat('lost', 200)", first=1000, last=30000),
    )
    abroad.reach(database)
    with server_stopped(abroad):
        restore(backup, files)
    entry.injected.append("restored")
    await_told(abroad, database, "restored from a backup")
    stopped = "RUNNING" not in abroad.source_status(database)["tasks"]
    assert stopped, abroad.source_status(database)
    abroad.execute(database, "UPDATE account SET note = 'another future', version = version + 1000 WHERE id > 90")
    recovered(abroad, database)
    columns = "SELECT id, version, note FROM"
    source = abroad.rows(database, f"{columns} account ORDER BY id")
    for name in (f"{database}_cow.account", f"{database}_mor.account_rt"):
        found = abroad.lake.json("sql", f"{columns} {name} WHERE __deleted = 'false' ORDER BY id")["rows"]
        assert [tuple(row.values()) for row in found] == source
        entry.checked += len(source)


@contextmanager
def server_stopped(rig: Rig) -> Iterator[None]:
    rig.stack.supervisors["postgres"].stop()
    try:
        yield
    finally:
        rig.stack.start("postgres")


def restore(backup: Path, files: Path) -> None:
    """The files of the server as they were, owner and all."""
    owner = files.stat()
    shutil.rmtree(files)
    backup.rename(files)
    for path in (files, *files.rglob("*")):
        shutil.chown(path, owner.st_uid, owner.st_gid)
