"""Cases A9 to A15: changes of one artwork and one artist, seen at once and as they were."""

from typing import Any

import pytest
from pyspark.sql import Row

from tests.acceptance.museum import DIMENSIONS, TABLES, Changed, Compacted, Museum, view_of
from tests.integration import readers

pytestmark = pytest.mark.integration
RT, RO, COW = "moma_mor.artworks_rt", "moma_mor.artworks_ro", "moma_cow.artworks"
# date, acquisition_date, dimensions after each step
STATES = (
    ("1959", None, None),
    ("1959", "2009-04-15", None),
    ("1959", "2009-04-15", DIMENSIONS),
    ("1959", "2009-04-19", DIMENSIONS),
    ("1960", "2009-04-19", DIMENSIONS),
)
# op, partition and values of artist 299 at T1 to T5
T1 = ("r", "nationality=American", "Gerhard H. Bakker", "American", "Male", 1906, 1988)
T2 = ("u", "nationality=American", "Gerhard H. Bakker", "American", "Male", 1907, 1989)
T3 = ("u", "nationality=American", "Gerhard M. Bakker", "American", "Male", 1907, 1989)
T4 = ("u", "nationality=German", "Gerhard M. Bakker", "German", "Male", 1907, 1989)
T5 = ("u", "nationality=German", "Gerhard M. Bakker", "German", "Male", 1905, 1989)
BAKKER = (
    "select __op, _hoodie_partition_path, name, nationality, gender, birth_year, death_year "
    "from {} where artist_id = 299"
)


def state(row: Row) -> tuple[Any, ...]:
    return row.date, row.acquisition_date, row.dimensions


def in_parquet(row: Row) -> bool:
    """A row out of a log names its file group instead of a file."""
    return bool(row._hoodie_file_name.endswith(".parquet"))


@pytest.mark.parametrize("step", range(4))
def test_a9_each_value_in_turn(changed: Changed, step: int) -> None:
    seen = changed.picador[step]
    (rt,), (ro,), (cow,) = seen[RT], seen[RO], seen[COW]
    assert (state(rt), rt["__op"], in_parquet(rt)) == (STATES[step], "u", False)
    assert (state(cow), cow["__op"], in_parquet(cow)) == (STATES[step], "u", True)
    assert (state(ro), ro["__op"], in_parquet(ro)) == ((None, None, None), "r", True)


def test_a9_after_compaction(changed: Changed) -> None:
    seen = changed.picador_compacted
    for view in (RT, RO, COW):
        (row,) = seen[view]
        assert (state(row), row["__op"], in_parquet(row)) == (STATES[3], "u", True)


def test_a9_bronze(museum: Museum, changed: Changed) -> None:
    """One record for each change, that of A10 included."""
    files = readers.bronze_files(museum.spark, museum.lake.home, "moma.public.artworks")
    rows = [row for key in sorted(files) for row in files[key] if row["artwork_id"] == 128447]
    assert [(row["__op"], row["date"], row["acquisition_date"], row["dimensions"]) for row in rows] == [
        ("r", None, None, None),
        *(("u", *values) for values in STATES),
    ]


def test_a10_before_compaction(changed: Changed) -> None:
    seen = changed.picador[4]
    (rt,), (ro,), (cow,) = seen[RT], seen[RO], seen[COW]
    assert (ro.date, in_parquet(ro)) == ("1959", True)
    assert (rt.date, in_parquet(rt)) == ("1960", False)
    assert (cow.date, in_parquet(cow)) == ("1960", True)


def test_a10_after_compaction(compacted: Compacted) -> None:
    for view in (RT, RO, COW):
        (row,) = [row for row in compacted.rows[view] if row.artwork_id == 128447]
        assert (state(row), in_parquet(row)) == (STATES[4], True)
    assert "moma_mor.artworks" in compacted.said


def test_a9_a10_only_merge_on_read_has_logs(museum: Museum, changed: Changed) -> None:
    def logs(folder: str) -> list[str]:
        keys = readers.object_keys(museum.lake.home, f"silver/moma/{folder}/")
        return [key for key in keys if ".log." in key and "/.hoodie/" not in key]

    assert logs("artworks_cow") == logs("artists_cow") == []
    assert logs("artworks_mor") != []


@pytest.mark.parametrize(("moment", "expected"), list(enumerate((T1, T2, T3, T4, T5))))
def test_a11_to_a15_as_of_a_time(museum: Museum, changed: Changed, moment: int, expected: tuple[Any, ...]) -> None:
    """Asked after the row was deleted (A16: the earlier moments still return their rows)."""
    statement = " union all ".join(BAKKER.format(view) for view in ("moma_cow.artists", "moma_mor.artists_rt"))
    rows = museum.past(statement, as_of=changed.moments[moment].time)
    assert [tuple(row) for row in rows] == [expected, expected]


@pytest.mark.parametrize("table", TABLES)
def test_a14_as_of_an_instant(museum: Museum, changed: Changed, table: str) -> None:
    """The instant of the commit itself, inclusive; the key is in one partition only."""
    rows = museum.past(BAKKER.format(view_of(table)), as_of=changed.moments[3].instants[table])
    assert [tuple(row) for row in rows] == [T4]


@pytest.mark.parametrize(("form", "moment", "expected"), [("instants", 1, T2), ("time", 2, T3), ("lsn", 4, T5)])
def test_a11_to_a15_on_the_command_line(
    museum: Museum, changed: Changed, form: str, moment: int, expected: tuple[Any, ...]
) -> None:
    given = getattr(changed.moments[moment], form)
    when = given["moma_mor.artists"] if form == "instants" else given
    answer = museum.lake.json("sql", BAKKER.format("moma_mor.artists_rt"), "--as-of", when)
    assert [tuple(row.values()) for row in answer["rows"]] == [expected]


@pytest.mark.parametrize("table", ["moma_cow.artists", "moma_mor.artists"])
def test_incremental_between_two_instants(museum: Museum, changed: Changed, table: str) -> None:
    """After T2 and up to T3 one row changed; between T1 and T2 two, one of them by an update without effect."""
    t1, t2, t3 = (moment.instants[table] for moment in changed.moments[:3])
    statement = f"select artist_id, name, gender, __op from {view_of(table)}"
    renamed = museum.past(statement, since=t2, until=t3)
    assert [tuple(row) for row in renamed] == [(299, "Gerhard M. Bakker", "Male", "u")]
    earlier = museum.past(statement, since=t1, until=t2)
    assert sorted((row.artist_id, row.gender, row["__op"]) for row in earlier) == [
        (201, "Male", "u"),
        (299, "Male", "u"),
    ]


def test_an_update_without_effect_is_one_change(museum: Museum, changed: Changed) -> None:
    """Invariant 6."""
    records = readers.topic_records(museum.lake.home, "moma.public.artists")
    assert [record["__op"] for record in records if record["artist_id"] == 201] == ["r", "u"]
