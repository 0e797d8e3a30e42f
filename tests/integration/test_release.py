"""A lake on the Spark and the Hudi of EMR 7.10, in the place of those of EMR 6.15 (make slow)."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from zipfile import ZipFile

import pytest

from lake.config import versions
from lake.config.environment import PROJECT
from tests.running_lake import RunningLake

pytestmark = [pytest.mark.integration, pytest.mark.slow]
OTHER = "emr-7.10.0"
KINDS = ("moma_cow.artists", "moma_mor.artists_rt")
# Rows of two commits leave the file groups of several partitions: Hudi 0.14 doubles them without our index (ADR 7).
MOVES = (
    "UPDATE artists SET birth_year = 1800 WHERE artist_id IN (1, 2)",
    "UPDATE artists SET nationality = 'Moved' WHERE artist_id BETWEEN 1 AND 40",
    "DELETE FROM artists WHERE artist_id = 3",
)
MOVED = 33  # so many of these keys are in the collection, without the deleted one


@pytest.fixture
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningLake]:
    """A lake of its own with the definition of the museum; it is not started."""
    running = RunningLake(tmp_path_factory.mktemp("release") / "lake", 28200)
    running.databases.mkdir(parents=True)
    shutil.copy(PROJECT / "databases" / "moma.yaml", running.databases)
    try:
        yield running
    finally:
        running.run("teardown", "--yes")


def on(lake: RunningLake, release: str) -> RunningLake:
    return replace(lake, release=release)


def runs_on(lake: RunningLake) -> tuple[str, str, str]:
    found = lake.json("status")["pairing"]
    return found["release"], found["running"], found["hudi"]


def test_the_index_that_is_deployed_is_the_one_that_runs_here() -> None:
    """Compiled with one Hudi or the other, it has the same bytes; the stacks take the default's jar.

    That jar also has the appender, which only the default's Hudi can load.
    """
    jars = [ZipFile(PROJECT / "build" / folder / "spark" / "lake-index.jar") for folder in ("", OTHER)]
    default, other = ({name: jar.read(name) for name in jar.namelist()} for jar in jars)
    assert other.items() <= default.items()
    assert "lake/hudi/RecordIndex.class" in other
    assert set(default) - set(other) >= {"lake/hudi/Appender.class", "lake/NotPlain.class"}


def test_the_whole_path(own: RunningLake) -> None:
    """make demo: first rows, changes, a row that changes its partition, time travel, and the proof for both types."""
    lake = on(own, OTHER)
    assert "Done in" in lake.run("demo").stdout
    assert runs_on(lake) == (OTHER, "3.5.5", "0.15.0")
    lake.run("compact")
    proof = lake.json("verify")
    assert proof["equal"]
    rows = proof["tables"]["moma.public.artists"]["rows"]
    assert rows == dict.fromkeys(("source", "cow", "rt", "ro"), 15_088)
    refused = lake.run("streamer", "run", "moma.artists", "--once", check=False)
    assert refused.returncode == 2
    assert "emr-7.10.0 carries Hudi 0.15.0" in refused.stderr and "run it on emr-6.15.0" in refused.stderr


def test_a_lake_changes_its_release_and_changes_it_back(own: RunningLake) -> None:
    """As on AWS (docs/runbooks/emr-release.md): the tables of one Hudi are written on by the other."""
    own.run("up")
    own.run("load", "moma")
    own.run("apply")
    for number, release in enumerate((versions.EMR, OTHER, versions.EMR)):
        lake = on(own, release)
        lake.run("up")
        lake.execute("moma", *changes(number))
        assert lake.json("verify")["equal"], release
        assert runs_on(lake)[:2] == (release, versions.EMR_RELEASES[release].spark)
        assert moved(lake, number) == dict.fromkeys(KINDS, MOVED)
        lake.run("down")


def changes(number: int) -> list[str]:
    """MOVES with values that differ from those of other numbers."""
    return [one.replace("1800", f"{1800 + number}").replace("Moved", f"Moved {number}") for one in MOVES]


def moved(lake: RunningLake, number: int) -> dict[str, int]:
    """How many live rows are in the new partition of each type."""
    query = f"SELECT count(*) AS n FROM {{}} WHERE nationality = 'Moved {number}' AND __deleted = 'false'"
    return {kind: lake.json("sql", query.format(kind))["rows"][0]["n"] for kind in KINDS}
