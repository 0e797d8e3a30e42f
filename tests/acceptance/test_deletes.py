"""Cases A16 to A19 and the invariants: deletes under both replica identities, totals, and an old topic replayed.

moma_default has REPLICA IDENTITY DEFAULT, as the post: a delete carries the key only.
moma has FULL: a delete carries the whole row.
"""

from collections import Counter
from typing import Any

import pytest

from tests.acceptance.museum import TABLES, Changed, Compacted, Museum, Replayed, Seen, contents, view_of
from tests.acceptance.test_changes import BAKKER
from tests.integration import readers

pytestmark = pytest.mark.integration
NOWHERE = "nationality=__HIVE_DEFAULT_PARTITION__"
# partition and values of a deleted row
KEY_ONLY = (NOWHERE, None, None, None, None, None)
DELETED_299 = {
    "moma": ("nationality=German", "Gerhard M. Bakker", "German", "Male", 1905, 1989),
    "moma_default": KEY_ONLY,
}
BELJON = ("nationality=Dutch", "J. J. Beljon", "Dutch", "Male", 1922, 2002)
DELETED_441 = {"moma": BELJON, "moma_default": KEY_ONLY}
IDENTITY = pytest.mark.deviation(
    "REPLICA IDENTITY FULL, the default here, keeps the old values of a deleted row; DEFAULT is replayed, too"
)
BOTH = pytest.mark.parametrize("database", ["moma", "moma_default"])
ARTIST = "artist_id, name, nationality, gender, birth_year, death_year"
ARTWORK = (
    "artwork_id, title, artist_id, name, date, medium, dimensions, acquisition_date, credit, catalogue, department, "
    "classification, object_number, diameter_cm, circumference_cm, height_cm, length_cm, width_cm, depth_cm, "
    "weight_kg, durations"
)
SOURCES = [("moma", "artists", ARTIST), ("moma_default", "artists", ARTIST), ("moma", "artworks", ARTWORK)]
SOURCE_TABLES = pytest.mark.parametrize(("database", "table", "columns"), SOURCES)


def rows_of(seen: Seen, view: str, artist: int) -> list[tuple[Any, ...]]:
    """op, deleted, partition and values, the live row first."""
    columns = ("__op", "__deleted", "_hoodie_partition_path", "name", "nationality", "gender")
    found = [row for row in seen[view] if row.artist_id == artist]
    rows = [(*(row[column] for column in columns), row.birth_year, row.death_year) for row in found]
    return sorted(rows, key=lambda row: row[1])


@IDENTITY
@BOTH
@pytest.mark.parametrize("view", ["mor.artists_rt", "cow.artists"])
def test_a16_as_of_after_the_delete(museum: Museum, changed: Changed, database: str, view: str) -> None:
    rows = museum.past(BAKKER.format(f"{database}_{view}"), as_of=changed.moments[5].time)
    assert [tuple(row) for row in rows] == [("d", *DELETED_299[database])]


@IDENTITY
@BOTH
def test_a17_bronze_record(museum: Museum, changed: Changed, database: str) -> None:
    files = readers.bronze_files(museum.spark, museum.lake.home, f"{database}.public.artists")
    (record,) = [row for rows in files.values() for row in rows if row["artist_id"] == 441 and row["__op"] == "d"]
    for name in ("__lsn", "__source_ts_ms", "__offset", "__run"):
        assert record.pop(name) > 0
    assert [record.pop(name, None) for name in ("__unavailable", "__moved_from")] == [None, None]
    names = ("name", "nationality", "gender", "birth_year", "death_year")
    assert record == {
        "artist_id": 441,
        **dict(zip(names, DELETED_441[database][1:], strict=True)),
        "__op": "d",
        "__deleted": "true",
        "__db": database,
        "__table": "artists",
        "__schema": "public",
    }


@IDENTITY
@BOTH
@pytest.mark.parametrize("view", ["mor.artists_rt", "cow.artists"])
@pytest.mark.parametrize(("artist", "values"), [(299, DELETED_299), (441, DELETED_441)])
def test_a18_one_deleted_row(changed: Changed, database: str, view: str, artist: int, values: Any) -> None:
    assert rows_of(changed.rows, f"{database}_{view}", artist) == [("d", "true", *values[database])]


def test_a18_read_optimised_before_compaction_identity_default(changed: Changed) -> None:
    """The delete made a row in another partition, the old one is not merged away yet."""
    assert rows_of(changed.rows, "moma_default_mor.artists_ro", 441) == [
        ("r", "false", *BELJON),
        ("d", "true", *KEY_ONLY),
    ]


def test_a18_read_optimised_before_compaction_identity_full(changed: Changed) -> None:
    """The delete stays in its partition, in a log that this view does not read."""
    assert rows_of(changed.rows, "moma_mor.artists_ro", 441) == [("r", "false", *BELJON)]


@BOTH
@pytest.mark.parametrize("view", ["mor.artists_ro", "mor.artists_rt", "cow.artists"])
@pytest.mark.parametrize(("artist", "values"), [(299, DELETED_299), (441, DELETED_441)])
def test_a18_after_compaction(compacted: Compacted, database: str, view: str, artist: int, values: Any) -> None:
    assert rows_of(compacted.rows, f"{database}_{view}", artist) == [("d", "true", *values[database])]


# rows; live; American, Dutch, German among the live; rows of the partition without nationality, and live ones there
TOTALS = {
    "moma_default": (15_089, 15_087, 5_198, 264, 930, 2_488, 2_486),
    "moma": (15_089, 15_087, 5_198, 264, 930, 2_486, 2_486),
}


@BOTH
@pytest.mark.parametrize("view", ["mor.artists_rt", "cow.artists"])
def test_a19_totals(changed: Changed, database: str, view: str) -> None:
    rows = changed.rows[f"{database}_{view}"]
    live = [row for row in rows if row["__deleted"] == "false"]
    nationalities = Counter(row.nationality for row in live)
    nowhere = [[row for row in part if row._hoodie_partition_path == NOWHERE] for part in (rows, live)]
    assert (
        len(rows),
        len(live),
        *(nationalities[name] for name in ("American", "Dutch", "German")),
        *map(len, nowhere),
    ) == TOTALS[database]


@SOURCE_TABLES
def test_live_rows_equal_the_source(museum: Museum, changed: Changed, database: str, table: str, columns: str) -> None:
    """Invariant 1, on both table types, before compaction."""
    source = readers.source_rows(museum.lake.home, database, f"SELECT {columns} FROM {table}")
    for view in (f"{database}_cow.{table}", f"{database}_mor.{table}_rt"):
        rows = changed.rows.get(view) or museum.sql(f"select * from {view}")
        live = [tuple(row[name] for name in columns.split(", ")) for row in rows if row["__deleted"] == "false"]
        assert len(live) == len(source)
        assert set(live) == set(source)


@pytest.mark.parametrize("topic", ["moma.public.artists", "moma.public.artworks", "moma_default.public.artists"])
def test_bronze_holds_every_offset_once(museum: Museum, changed: Changed, topic: str) -> None:
    """Invariant 2; there are no tombstones, tombstones.on.delete is false."""
    files = readers.bronze_files(museum.spark, museum.lake.home, topic)
    offsets = sorted(row["__offset"] for rows in files.values() for row in rows)
    assert offsets == list(range(readers.end_of(museum.lake.home, topic)))


@pytest.mark.slow
@pytest.mark.parametrize("table", TABLES)
def test_replay_from_offset_0_changes_nothing(changed: Changed, replayed: Replayed, table: str) -> None:
    """A6 and invariant 4 (F6): the first batch brings 15,000 old rows back over newer ones."""
    assert replayed.batches[table][0] == 15_000
    assert len(replayed.batches[table]) > 1
    view = view_of(table)
    assert len(replayed.rows[view]) == 15_089
    assert contents(replayed.rows[view]) == contents(changed.rows[view])


@SOURCE_TABLES
def test_all_views_are_equal_after_compaction(compacted: Compacted, database: str, table: str, columns: str) -> None:
    """Invariant 5."""
    cow, rt, ro = (
        compacted.rows[f"{database}_{view}"] for view in (f"cow.{table}", f"mor.{table}_rt", f"mor.{table}_ro")
    )
    assert len(cow) == len(rt) == len(ro)
    assert contents(cow) == contents(rt) == contents(ro)


@pytest.mark.slow
@BOTH
def test_compaction_after_a_replay_changes_no_row(
    changed: Changed, compacted_after_replay: Compacted, database: str
) -> None:
    """F6 on the merge-on-read table: the payload of compaction keeps the newer row too."""
    before = changed.rows[f"{database}_mor.artists_rt"]
    assert contents(compacted_after_replay.rows[f"{database}_mor.artists_ro"]) == contents(before)
