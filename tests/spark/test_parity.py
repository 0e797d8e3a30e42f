"""The comparison finds a changed, a dropped and a doubled row, and names its key."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from spark_jobs.archive import files as archive
from spark_jobs.archive.files import File
from spark_jobs.kafka.lag import missing_offsets
from spark_jobs.parity import compare, findings, hot_rows, lake_rows
from spark_jobs.parity.compare import PLACEHOLDER
from spark_jobs.parity.lake_rows import LakeRows
from spark_jobs.runtime.pipeline import Table
from spark_jobs.sources.postgres.reader import page_range, qualified, source_column
from spark_jobs.sources.postgres.types import PG_TYPES, SourceColumn

TABLE = Table("moma", "public", "artists", "moma.public.artists", 0, ("id",), None, "soft", "full", ())
COLUMNS = {"id": PG_TYPES["int4"], "name": PG_TYPES["text"]}
LAKE = "id int, name string, __deleted string, __op string, __lsn long, _order long"
ROWS = [(1, "a", "false", "r", 1, 1), (2, None, "false", "r", 1, 2), (3, "", "false", "r", 1, 3)]


def lake(spark: SparkSession, rows: list[Any]) -> DataFrame:
    return lake_rows.of_lake(spark.createDataFrame(rows, LAKE), TABLE, COLUMNS)


def source(spark: SparkSession, rows: list[Any]) -> DataFrame:
    return lake_rows.of_source(spark.createDataFrame(rows, "c0 string, c1 string"), TABLE, COLUMNS)


@pytest.fixture
def truth(spark: SparkSession) -> Any:
    return source(spark, [("1", "a"), ("2", None), ("3", "")])


def differing(left: Any, right: Any) -> list[str]:
    return [row.key for row in compare.differing("source = cow", left.live(), right.live()).collect()]


def test_equal_rows_do_not_differ(spark: SparkSession, truth: Any) -> None:
    assert differing(truth, lake(spark, ROWS)) == []


@pytest.mark.parametrize(
    "rows, key",
    [
        ([(1, "b", *ROWS[0][2:]), *ROWS[1:]], '["1"]'),
        ([ROWS[0], (2, "", *ROWS[1][2:]), ROWS[2]], '["2"]'),
        ([ROWS[0], ROWS[1], (3, None, *ROWS[2][2:])], '["3"]'),
        (ROWS[:2], '["3"]'),
        ([*ROWS, (4, "d", "false", "c", 2, 4)], '["4"]'),
        ([*ROWS[:2], (3, "", "true", "d", 2, 4)], '["3"]'),
    ],
)
def test_a_changed_dropped_or_invented_row_is_named(spark: SparkSession, truth: Any, rows: Any, key: str) -> None:
    assert differing(truth, lake(spark, rows)) == [key]


def test_a_soft_deleted_row_is_not_live(spark: SparkSession, truth: Any) -> None:
    side = lake(spark, [*ROWS, (4, "gone", "true", "d", 2, 4)])
    assert differing(truth, side) == []
    assert side.summary() == {"live": 3, "deleted": 1, "placeholders": 0, "keys": 4}


def test_a_value_without_a_text_does_not_equal_null(spark: SparkSession) -> None:
    """Whatever a conversion cannot tell is a difference: on one side and on both."""
    nothing = PG_TYPES["text"]._replace(source=lambda _: F.lit(None), text=lambda _: F.lit(None))
    columns = {**COLUMNS, "name": nothing}
    texts = spark.createDataFrame([("1", "a"), ("2", None), ("3", "b")], "c0 string, c1 string")
    source = lake_rows.of_source(texts, TABLE, columns)
    rows = [(1, None, *ROWS[0][2:]), (2, None, *ROWS[1][2:]), (3, "b", *ROWS[2][2:])]
    lake = lake_rows.of_lake(spark.createDataFrame(rows, LAKE), TABLE, columns)
    assert sorted(differing(source, lake)) == ['["1"]', '["3"]']


@pytest.mark.parametrize(
    ("rows", "missing", "columns"),
    [
        (ROWS[:2], "cow", {}),
        ([*ROWS[:2], (3, "", "true", "d", 2, 4)], "cow", {}),  # deleted in the lake alone
        ([*ROWS[:2], (3, "c", *ROWS[2][2:])], None, {"name": {"source": "", "cow": "c"}}),
    ],
)
def test_it_is_said_how_a_row_differs(spark: SparkSession, truth: Any, rows: Any, missing: Any, columns: Any) -> None:
    sides = {"source": truth, "cow": lake(spark, rows)}
    (found,) = findings.versions(spark, TABLE, "source = cow", ['["3"]'], sides)
    assert (found["missing_in"], found["columns"]) == (missing, columns)


def test_a_doubled_row_is_named_with_its_count(spark: SparkSession) -> None:
    assert compare.duplicates(lake(spark, [*ROWS, ROWS[1]]).rows, 10) == {'["2"]': 2}
    assert compare.duplicates(lake(spark, ROWS).rows, 10) == {}


def test_the_two_lake_tables_differ_by_order_alone(spark: SparkSession) -> None:
    other = [ROWS[0], ROWS[1], (*ROWS[2][:5], 99)]
    found = compare.differing("cow = rt", lake(spark, ROWS).rows, lake(spark, other).rows)
    assert [row.key for row in found.collect()] == ['["3"]']


def test_the_two_lake_tables_differ_by_null_and_empty(spark: SparkSession) -> None:
    other = [ROWS[0], (2, "", *ROWS[1][2:]), ROWS[2]]
    found = compare.differing("cow = rt", lake(spark, ROWS).rows, lake(spark, other).rows)
    assert [row.key for row in found.collect()] == ['["2"]']


def test_both_versions_are_shown_by_column(spark: SparkSession, truth: Any) -> None:
    side = lake(spark, [(1, "b", *ROWS[0][2:]), *ROWS[1:]])
    ours, theirs = truth.texts(spark, ['["1"]']), side.texts(spark, ['["1"]'])
    assert compare.column_differences(truth.names, ours['["1"]'], theirs['["1"]']) == {"name": ("a", "b")}


def test_a_placeholder_is_found_in_its_column(spark: SparkSession) -> None:
    rows = lake(spark, [ROWS[0], (2, PLACEHOLDER, *ROWS[1][2:])]).rows
    assert compare.placeholders(rows, 10) == {'["2"]': ["name"]}


FORMS = {
    "string": "'__debezium_unavailable_value'",
    "binary": "X'5f5f646562657a69756d5f756e617661696c61626c655f76616c7565'",
    "array<string>": "array('x', '__debezium_unavailable_value')",
    "array<binary>": "array(cast('lake\\u0000unavailable' AS binary))",
    "array<int>": "array(108, 97, 107, 101, 0, 117, 110, 97, 118, 97, 105, 108, 97, 98, 108, 101)",
    "array<bigint>": "array(108L, 97L, 107L, 101L, 0L, 117L, 110L, 97L, 118L, 97L, 105L, 108L, 97L, 98L, 108L, 101L)",
}


def test_every_form_of_a_placeholder_is_found_where_no_source_explains_it(spark: SparkSession) -> None:
    columns = [(f"c{place}", kind) for place, kind in enumerate(FORMS)]
    row = spark.range(1).selectExpr(*[f"{sql} AS c{place}" for place, sql in enumerate(FORMS.values())])
    deleted, live = (compare.placeholder_names(columns, F.lit(value)) for value in (True, False))
    found = row.select(deleted.alias("deleted"), live.alias("live")).collect()[0]
    assert (found.deleted, found.live) == ([name for name, _ in columns], [])


def test_a_column_that_the_lake_lacks_is_null_in_every_row(spark: SparkSession) -> None:
    stored = spark.createDataFrame([(row[0], *row[2:]) for row in ROWS], LAKE.replace("name string, ", ""))
    side = lake_rows.of_lake(stored, TABLE, COLUMNS)
    assert differing(source(spark, [("1", None), ("2", None), ("3", None)]), side) == []
    assert differing(source(spark, [("1", "a"), ("2", None), ("3", None)]), side) == ['["1"]']


def test_a_lake_column_of_another_type_is_refused(spark: SparkSession) -> None:
    stored = spark.createDataFrame(ROWS, LAKE.replace("id int", "id string"))
    with pytest.raises(lake_rows.WrongType, match="column id is string in the lake, the type map says int"):
        lake_rows.of_lake(stored, TABLE, COLUMNS)


def test_the_read_optimised_view_may_be_behind_but_not_elsewhere(spark: SparkSession) -> None:
    now = lake(spark, [(1, "new", "false", "u", 9, 9), *ROWS[1:]]).rows
    before = lake(spark, ROWS[:2]).rows
    assert compare.lag(now, before) == (2, 0)
    ahead = (3, "", "false", "r", 1, 30)
    wrong = lake(spark, [(2, "other", *ROWS[1][2:]), ahead, (7, "x", "false", "r", 1, 1)]).rows
    assert compare.lag(now, wrong)[1] == 3
    assert sorted(compare.impossible(now, wrong, 10)) == ['["2"]', '["3"]', '["7"]']


class Names:
    """Spark's names over a table that grows by a row with each look; a plan is kept until it is refreshed."""

    def __init__(self, rows: int, planned: int) -> None:
        self.rows, self.planned, self.catalog = rows, planned, self

    def refreshTable(self, name: str) -> None:
        self.rows = self.planned = self.rows + 1

    def table(self, name: str) -> Any:
        return SimpleNamespace(count=lambda: self.planned)

    def by_path(self, *_: Any) -> Any:
        self.rows += 1
        return SimpleNamespace(count=lambda: self.rows)


def test_a_table_that_grows_meanwhile_has_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    names: Any = Names(rows=100, planned=90)
    monkeypatch.setattr(lake_rows, "stored_rows", names.by_path)
    assert lake_rows.name_problem(names, "shop_cow.a", "path", "cow", 100) is None


@pytest.mark.parametrize("rows", [3, 300])
def test_a_name_of_another_table_is_told(monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    other: Any = Names(rows=rows, planned=rows)
    path: Any = Names(rows=100, planned=100)
    monkeypatch.setattr(lake_rows, "stored_rows", path.by_path)
    told = lake_rows.name_problem(other, "shop_cow.a", "path", "cow", 100)
    assert told == f"has {rows + 5} rows by name and 105 by path"


# By what it shows: two rounds of a key, the hashes of both sides and then the orders of their rows; is it real?
ROUNDS: dict[str, tuple[str, str, str, bool | None]] = {
    "both stand still": ("source = cow", "a b - 5", "a b - 5", True),
    "the lake stands still": ("source = cow", "a b - 5", "c b - 5", True),
    "a toggling row is another row": ("source = cow", "a b - 5", "a b - 6", False),
    "both move": ("source = cow", "a b - 5", "c d - 6", False),
    "still deleted": ("source = cow", "a - - 5", "c - - 5", True),
    "still no row": ("source = cow", "a - - -", "a - - -", True),
    "perhaps deleted and made again": ("source = cow", "a - - -", "c - - -", False),
    "invented": ("source = cow", "- b - 5", "- b - 5", True),
    "two rows of one message": ("cow = rt", "a b 5 5", "a b 5 5", True),
    "one is left behind": ("cow = rt", "a b 5 7", "a c 5 9", True),
    "the other is": ("cow = rt", "a b 7 5", "c b 9 5", True),
    "the later one rests": ("cow = rt", "a b 5 7", "a c 9 7", False),
    "not past it yet": ("cow = rt", "a b 5 7", "c d 7 9", False),
    "both are past it": ("cow = rt", "a b 5 7", "c d 8 9", None),
    "past two rows of one message": ("cow = rt", "a b 5 5", "c d 8 9", False),
    "and come to two": ("cow = rt", "a b 5 7", "c d 9 9", False),
}


def test_a_difference_is_real_when_a_row_of_the_lake_stands_still(spark: SparkSession) -> None:
    first = compare.judged(differences(spark, [(pair, name, was) for name, (pair, was, _, _) in ROUNDS.items()]), None)
    assert not any(row.real for row in first.collect())
    now = differences(spark, [(pair, name, text) for name, (pair, _, text, _) in ROUNDS.items()])
    found = {row.key: row.real for row in compare.judged(now, first).collect()}
    assert found == {name: real for name, (_, _, _, real) in ROUNDS.items() if real is not None}


def differences(spark: SparkSession, rows: list[tuple[str, str, str]]) -> DataFrame:
    """Of pair, key, and both hashes and orders in words, "-" for none."""
    schema = "pair string, key string, left string, right string, left_order long, right_order long"
    return spark.createDataFrame([_difference(*row) for row in rows], schema)


def _difference(pair: str, key: str, text: str) -> tuple[Any, ...]:
    left, right, *orders = [None if word == "-" else word for word in text.split()]
    return (pair, key, left, right, *[order and int(order) for order in orders])


def test_a_pair_that_agreed_once_is_settled(spark: SparkSession) -> None:
    before = compare.judged(differences(spark, [("source = cow", "k", "a b - 5")]), None)
    assert compare.judged(differences(spark, [("source = rt", "k", "a b - 5")]), before).count() == 0


@pytest.mark.parametrize(("seen", "left"), [("b", 0), (None, 1), ("c", 1)])
def test_a_row_that_the_source_was_seen_to_have_does_not_differ(
    spark: SparkSession, seen: str | None, left: int
) -> None:
    versions = spark.createDataFrame([("k", "a"), ("k", seen), ("other", "b")], "key string, hash string")
    for pair, real, stays in (("source = cow", False, left), ("source = cow", True, 1), ("cow = rt", False, 1)):
        found = differences(spark, [(pair, "k", "a b - 5")]).withColumn("real", F.lit(real))
        assert compare.unseen(found, versions).count() == stays


def test_a_row_that_never_rests_is_seen_in_all_its_versions(spark: SparkSession) -> None:
    seen = {'["1", "é\\"🎉"]': 3, '["1", ""]': 2, '["2", null]': 4}
    keys = spark.createDataFrame([('["1"]',), ('["2"]',), ('["3"]',)], "key string")
    found = hot_rows.versions(spark, sampled(seen, 5), TABLE, COLUMNS, keys)
    rows = source(spark, [("1", 'é"🎉'), ("1", ""), ("2", None)]).live().drop("_order").collect()
    assert {tuple(row) for row in found.collect()} == {*map(tuple, rows), ('["2"]', None), ('["3"]', None)}


def test_what_is_not_understood_is_not_no_row(spark: SparkSession) -> None:
    keys = spark.createDataFrame([('["1"]',)], "key string")
    with pytest.raises(Exception, match=r"(?i)malformed"):
        hot_rows.versions(spark, sampled({'["1", "a"': 1}, 1), TABLE, COLUMNS, keys).collect()


def sampled(seen: dict[str, int], times: int) -> Any:
    return SimpleNamespace(seen=seen, times=times)


def test_gapless_files_have_no_fault() -> None:
    assert archive.faults([File(0, 0, 0, 9, 10, [], 0), File(0, 10, 10, 12, 3, [], 0)], {0: 0}) == []


@pytest.mark.parametrize(
    "files, fault",
    [
        ([File(0, 0, 0, 9, 9, [4], 0)], "partition 0, file from 0: offset 4 is missing"),
        (
            [File(0, 0, 0, 9, 10, [], 0), File(0, 12, 12, 13, 2, [], 0)],
            "partition 0: offsets 10 to 11 are missing",
        ),
        ([File(0, 5, 5, 9, 5, [], 0)], "partition 0: offsets 0 to 4 are missing"),
        ([File(0, 0, 1, 9, 9, [], 0)], "partition 0, file from 0: its first offset is 1"),
        ([File(0, 0, 0, 9, 11, [], 1)], "partition 0, file from 0: 1 offsets are duplicated"),
        (
            [File(0, 0, 0, 9, 10, [], 0), File(0, 8, 8, 12, 5, [], 0)],
            "partition 0: offsets 8 to 9 are in two files",
        ),
    ],
)
def test_a_fault_of_the_archive_is_named(files: list[File], fault: str) -> None:
    assert archive.faults(files, {0: 0}) == [fault]


def test_what_lags_is_named_by_partition() -> None:
    assert missing_offsets("cow", {"0": 5}, {0: 5, 1: 3}) == "cow has not reached partition 1: 0 of 3"
    assert missing_offsets("cow", {}, {}) == ""


def test_the_catalogue_row_of_a_numeric_gives_precision_and_signed_scale() -> None:
    modifier = (5 << 16 | (-2 & 2047)) + 4
    assert source_column("n", "numeric", "b", modifier, False) == SourceColumn("n", "numeric", "b", 5, -2, False)


def test_a_table_is_read_by_ranges_of_pages() -> None:
    assert page_range([0, 100], 0) == ["ctid >= '(0,0)'", "ctid < '(100,0)'"]
    assert page_range([0, 100], 1) == ["ctid >= '(100,0)'"]
    assert page_range([0], 0) == ["true"]
    assert qualified('public."odd""name"') == '"public"."odd""name"'


KEYLESS = replace(TABLE, keys=("__row",), without_key="append")
LINES = "id int, name string, __deleted string, __op string, __lsn long, _order long, __row string"


def lines(spark: SparkSession, *rows: tuple[Any, ...]) -> LakeRows:
    return lake_rows.of_lake(spark.createDataFrame(list(rows), LINES), KEYLESS, COLUMNS)


def written(spark: SparkSession, *rows: tuple[Any, ...]) -> LakeRows:
    return lake_rows.of_source(spark.createDataFrame(list(rows), "c0 string, c1 string"), KEYLESS, COLUMNS)


TWICE = [
    (1, "a", "false", "r", 1, 1, "5.1"),
    (1, "a", "false", "c", 2, 2, "aa-1"),
    (2, None, "false", "c", 2, 3, "aa-2"),
]


def test_rows_without_a_key_are_compared_as_a_multiset(spark: SparkSession) -> None:
    truth = written(spark, ("1", "a"), ("2", None), ("1", "a"))
    assert differing(truth, lines(spark, *TWICE)) == []


@pytest.mark.parametrize(
    ("rows", "copy"),
    [
        (TWICE[1:], "2"),
        ([*TWICE, (1, "a", "false", "c", 3, 4, "aa-3")], "3"),
        ([*TWICE[:2], (2, None, "true", "c", 2, 4, "aa-2")], "1"),
    ],
)
def test_a_copy_too_few_or_too_many_is_named(spark: SparkSession, rows: list[Any], copy: str) -> None:
    truth = written(spark, ("1", "a"), ("2", None), ("1", "a"))
    (key,) = differing(truth, lines(spark, *rows))
    assert findings.named(KEYLESS, key)["copy"] == copy


def test_a_missing_copy_is_shown_by_its_values(spark: SparkSession) -> None:
    sides = {"source": written(spark, ("1", "a")), "cow": lines(spark)}
    keys = differing(sides["source"], sides["cow"])
    (shown,) = findings.versions(spark, KEYLESS, "source = cow", keys, sides)
    assert (shown["missing_in"], shown["columns"]["name"]) == ("cow", {"source": "a", "cow": None})


def test_inside_the_lake_a_row_is_known_by_its_name(spark: SparkSession) -> None:
    gone = (1, "a", "true", "d", 1, 2, "5.1")  # an orphan; the view that lags behind shows it still
    rt, ro = lines(spark, gone, (1, "a", "false", "r", 3, 9, "7.1")), lines(spark, (1, "a", "false", "r", 1, 1, "5.1"))
    assert compare.lag(rt.identified, ro.identified) == (2, 0)
