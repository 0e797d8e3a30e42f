"""Which facts of a source are drift."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lake.config.definition import Database
from lake.config.environment import Environment, Wal
from lake.guardian import rules as neutral
from lake.guardian.inspect import captured
from lake.sources.change import Change
from lake.sources.postgres import capture, limit, rules
from lake.sources.postgres.facts import ServerFacts, Slot, TableFacts
from lake.state.baseline import Baseline
from tests.unit.test_plan import shop, source

DATABASE: Database = shop(a={"key": ["id"]})
SERVER = ServerFacts(1000, "7", "00000001")
GRANT = Change("source", "shop", "public.a", "grant to lake_capture", "GRANT SELECT")
SLOT = Slot("pgoutput", "shop", "reserved", 500, 100, True, "lake_capture")
TABLE = TableFacts("public.a", 16400, 16500, {"16400": 16400}, ["old"])


@pytest.mark.parametrize(
    ("server", "position", "told"),
    [
        (SERVER, 1000, []),
        (replace(SERVER, position=900), 1000, ["the server's log ends before"]),
        (replace(SERVER, timeline="00000002"), 500, ["the server was restored or promoted"]),
        (ServerFacts(10, "8", "00000002"), 500, ["this is another server"]),
    ],
)
def test_server(server: ServerFacts, position: int, told: list[str]) -> None:
    found = list(rules.of_server(DATABASE, SERVER, server, position))
    assert [drift.what.startswith(text) for drift, text in zip(found, told, strict=True)] == [True] * len(told)
    assert all(drift.gap for drift in found)


@pytest.mark.parametrize(
    ("slot", "told"),
    [
        (SLOT, ""),
        (replace(SLOT, active=False, reader=None), ""),
        (None, "does not exist"),
        (replace(SLOT, wal_status="lost", captured=None, retained_bytes=None), "wal_status lost"),
        (replace(SLOT, plugin="wal2json"), "is not the lake's"),
        (replace(SLOT, database="other"), "is not the lake's"),
        (replace(SLOT, reader="somebody"), "is read by somebody"),
        (replace(SLOT, captured=501), "is ahead"),
    ],
)
def test_slot(slot: Slot | None, told: str) -> None:
    found = list(rules.of_capture(DATABASE, slot, position=500))
    assert [told in drift.what and drift.gap for drift in found] == ([True] if told else [])


@pytest.mark.parametrize("slot", [None, SLOT])
def test_nothing_is_expected_of_a_slot_before_the_first_record(slot: Slot | None) -> None:
    assert list(rules.of_capture(DATABASE, slot, position=0)) == []


@pytest.mark.parametrize(
    ("now", "told"),
    [
        (TABLE, []),
        (None, []),
        (replace(TABLE, membership=None), []),  # the rules of the definition name it
        (replace(TABLE, membership=16501), ["was out of the publication"]),
        (replace(TABLE, files={"16400": 16600}), ["was rewritten"]),
        (replace(TABLE, files={"16400": 16400, "16700": 16700}), []),  # a partition joined
        (replace(TABLE, defaulted=["extra", "old"]), ["the DEFAULT of extra "]),
        (replace(TABLE, relation=9, membership=10, files={"9": 9}), ["was dropped and re-created"]),
    ],
)
def test_table(now: TableFacts | None, told: list[str]) -> None:
    found = list(rules.of_table(DATABASE, TABLE, now))
    assert [text in drift.what for drift, text in zip(found, told, strict=True)] == [True] * len(told)
    assert all(drift.lost and not drift.gap for drift in found)


ALTERED = replace(TABLE, attributes={"1": "700"})


@pytest.mark.parametrize(
    ("files", "attributes", "told"),
    [
        ({"16400": 16600}, {"1": "700"}, False),  # VACUUM FULL, CLUSTER
        ({"16400": 16600}, {"1": "701"}, True),  # ALTER TYPE
        ({"16400": 16600}, {"1": "700", "2": "701"}, True),  # a column with a volatile DEFAULT
        ({"16400": 16400}, {"1": "701"}, False),  # SET NOT NULL
        ({}, {"1": "700"}, True),
    ],
)
def test_a_new_file_is_a_sign_where_a_column_was_altered(
    files: dict[str, int], attributes: dict[str, str], told: bool
) -> None:
    now = replace(TABLE, files=files, attributes=attributes)
    assert bool(list(rules.of_table(DATABASE, ALTERED, now))) == told
    after = Baseline(SERVER, {"public.a": ALTERED}).followed({"public.a": now}, rules.followed).tables["public.a"]
    assert bool(list(rules.of_table(DATABASE, after, now))) == told, "the next look forgot it"
    again = replace(now, files={"16400": 16900})
    assert not list(rules.of_table(DATABASE, after, again)) or told, "what is known by now is told"


def test_a_partition_that_was_rewritten_may_have_been_emptied() -> None:
    root = replace(TABLE, relation=16300, attributes={"1": "700"})
    (drift,) = rules.of_table(DATABASE, root, replace(root, files={"16400": 16600}))
    assert "a partition of it was emptied" in drift.what
    joined = replace(root, files={"16400": 16400, "16500": 16500})
    assert rules.followed(root, joined).files == joined.files


def test_definition() -> None:
    assert list(neutral.of_definition(DATABASE, source("a"), 1)) == []
    (drift,) = neutral.of_definition(DATABASE, source("a", missing=[GRANT]), 1)
    assert ("public.a" in drift.what, drift.lost) == (True, False)
    (drift,) = neutral.of_definition(DATABASE, source(), 1)
    assert "PostgreSQL has no table public.a" in drift.what


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({}, []),
        ({"slot.name": "another", "topic.prefix": "another"}, []),
        ({"slot.name": "lake_shop"}, ["has the slot.name lake_shop of"]),
        ({"slot.name": "another", "topic.prefix": "shop"}, ["has the topic.prefix shop of"]),
    ],
)
def test_connectors(settings: dict[str, str], told: list[str]) -> None:
    own = {"slot.name": "lake_shop", "topic.prefix": "shop"}
    found = list(neutral.of_connectors(DATABASE, {"source_postgres_shop": own, "second": settings}))
    assert [text in drift.what for drift, text in zip(found, told, strict=True)] == [True] * len(told)
    assert not any(drift.lost for drift in found)


def test_the_limit_is_reported_in_words_that_stay() -> None:
    local = Environment(name="local", root=Path(), wal=Wal(warn_bytes=10))
    spent = [list(limit.of_limit(local, DATABASE, replace(SLOT, retained_bytes=n))) for n in (10, 11, 12)]
    assert (len(spent[0]), spent[1] == spent[2], len(spent[1])) == (0, True, 1)
    assert list(limit.of_limit(local, DATABASE, None)) == []


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ([1, 10], [1, 10], []),
        ([1, 10], [1, 11], []),  # REINDEX
        ([1, 10], [2, 10], []),  # varchar(5) to varchar(20)
        ([1, 10], [2, 11], ["had its primary key dropped or changed"]),
        ([1, 0], [2, 0], ["had its primary key dropped or changed"]),  # of a partitioned table
        ([1, 10], [], ["had its primary key dropped or changed"]),
        ([], [2, 11], []),  # a baseline of an older release
    ],
)
def test_a_key_that_was_away_is_named_when_it_is_back(before: list[int], after: list[int], told: list[str]) -> None:
    found = rules.of_table(DATABASE, replace(TABLE, key_index=before), replace(TABLE, key_index=after))
    assert [(drift.what, drift.lost) for drift in found] == [(f"public.a {text}", True) for text in told]


def test_a_label_that_was_renamed_is_named() -> None:
    before = replace(TABLE, labels={"1": "new", "2": "old"})
    (drift,) = rules.of_table(DATABASE, before, replace(TABLE, labels={"1": "fresh", "2": "old", "3": "more"}))
    assert drift.what.endswith("enum labels that were renamed: new to fresh")
    assert drift.lost


def test_a_label_that_came_later_is_named_when_it_is_renamed() -> None:
    seen = rules.followed(replace(TABLE, labels={"1": "new"}), replace(TABLE, labels={"1": "fresh", "2": "more"}))
    found = rules.of_table(DATABASE, seen, replace(TABLE, labels={"1": "fresh", "2": "most"}))
    assert [drift.what.partition("renamed: ")[2] for drift in found] == ["new to fresh, more to most"]


@pytest.mark.parametrize(
    ("attributes", "told"),
    [
        (["app.address", "1", "2", "3"], ["app.address"]),  # ADD ATTRIBUTE: (1,a) is (1,a,) from now on
        (["app.address", "1"], ["app.address"]),
        (["app.place", "1", "2"], []),  # renamed: the text stays
        (["app.place", "1", "3"], ["app.place"]),
    ],
)
def test_a_composite_type_with_other_attributes_is_named(attributes: list[str], told: list[str]) -> None:
    before = replace(TABLE, composites={"7": ["app.address", "1", "2"]})
    found = rules.of_table(DATABASE, before, replace(TABLE, composites={"7": attributes, "8": ["app.new", "1"]}))
    assert [(drift.what.partition("attribute: ")[2], drift.lost) for drift in found] == [(name, True) for name in told]


def test_what_is_new_is_accepted_and_what_is_known_stays() -> None:
    known = Baseline(SERVER, {"public.a": TABLE})
    found = {"public.a": replace(TABLE, relation=9), "public.b": replace(TABLE, full_name="public.b")}
    assert known.with_new(found).tables == {"public.a": TABLE, "public.b": found["public.b"]}
    assert known.with_new(found).with_only(["public.a", "public.b"]) == known.with_new(found)


def test_what_was_spoiled_stays_so_whatever_the_source_is_by_now() -> None:
    once = Baseline(SERVER, {"public.a": TABLE}).with_losses({"public.a": "lost its deletes", "public.new": "so, too"})
    twice = once.with_losses({"public.a": "lost more"}).with_only([])
    assert once.tables == {"public.a": replace(TABLE, loss_reason="lost its deletes", loss_count=1)}
    assert twice.tables == {"public.a": replace(TABLE, loss_reason="lost its deletes", loss_count=3)}
    (drift,) = rules.of_table(DATABASE, twice.tables["public.a"], TABLE)
    assert (drift.what, drift.lost, drift.now) == ("public.a lost its deletes", True, "lake recover shop")


NAMED = replace(TABLE, columns={"1": "id", "2": "note"})


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({"1": "id", "2": "note"}, ""),
        ({"1": "id", "2": "note", "3": "extra"}, ""),
        ({"1": "id"}, ""),
        ({"1": "id", "2": "remark"}, "column note renamed to remark"),
        ({"1": "id", "3": "note"}, "column note dropped and added again"),
        ({"1": "note", "2": "id"}, "column id renamed to note"),
    ],
)
def test_a_column_that_has_the_values_of_another_one(columns: dict[str, str], told: str) -> None:
    found = neutral.moved_columns(NAMED, replace(TABLE, columns=columns))
    assert told in found and bool(told) == bool(found)
    assert neutral.moved_columns(NAMED, replace(TABLE, relation=9, columns=columns)) == ""
    assert neutral.moved_columns(TABLE, replace(TABLE, columns=columns)) == "", (
        "of before columns were looked at nothing is known"
    )


def test_columns_are_followed_and_a_dropped_one_is_known_until_its_name_is_given_again() -> None:
    known = Baseline(SERVER, {"public.a": NAMED})
    added = known.with_columns({"public.a": replace(TABLE, columns={"1": "id", "2": "note", "3": "extra"})})
    dropped = added.with_columns({"public.a": replace(TABLE, columns={"1": "id", "2": "note"})})
    again = replace(TABLE, columns={"1": "id", "2": "note", "4": "extra"})
    assert "extra dropped and added" in neutral.moved_columns(dropped.tables["public.a"], again)
    assert dropped.with_columns({"public.a": again}).tables["public.a"].columns == again.columns
    assert dropped.with_columns({}) == dropped


def test_what_is_found_while_a_table_is_proven_equal_stays_told() -> None:
    before = Baseline(SERVER, {"public.a": replace(NAMED, loss_reason="lost its deletes", loss_count=3)})
    there = {"public.a": replace(TABLE, relation=9)}
    (calm,) = before.in_order(["public.a"], before, there).tables.values()
    assert (calm.relation, calm.loss_reason, calm.columns) == (9, "", NAMED.columns)
    (meanwhile,) = before.with_losses({"public.a": "lost more"}).in_order(["public.a"], before, there).tables.values()
    assert (meanwhile.relation, meanwhile.loss_reason) == (9, "lost its deletes")
    assert before.in_order(["public.a"], before, {}) == before.in_order([], before, there) == before


def test_a_table_that_is_captured_no_more_comes_back_with_a_gap() -> None:
    (drift,) = rules.of_table(DATABASE, Baseline(SERVER, {"public.a": TABLE}).with_only([]).tables["public.a"], TABLE)
    assert (drift.what, drift.lost) == ("public.a was not captured for a while", True)


@pytest.mark.parametrize(
    ("changed", "identities", "told"),
    [
        ({}, {"full"}, ""),
        ({"identities": ["f"]}, {"default"}, ""),  # more than was asked for
        ({"identities": ["d"]}, {"default", "full"}, ""),  # an apply makes the one of the other
        ({"identities": ["d", "f"]}, {"full"}, "identity DEFAULT"),  # of one partition
        ({"identities": ["i"]}, {"default"}, "identity USING INDEX"),
        ({"published": False}, {"full"}, "does not publish all changes"),
        ({"narrowed": True}, {"full"}, "row filter or a column list"),
    ],
)
def test_a_source_that_tells_a_part_of_its_changes(changed: dict[str, Any], identities: set[str], told: str) -> None:
    found = rules.loss_reason(replace(TABLE, **changed), identities)
    assert told in found and bool(told) == bool(found)


def test_the_position_of_a_connector_is_the_greatest_that_its_offset_names() -> None:
    assert capture.acknowledged({"lsn": 5, "lsn_commit": 7, "lsn_proc": None}) == 7
    assert (capture.acknowledged({}), capture.acknowledged(None)) == (0, 0)


def test_a_table_that_was_not_applied_yet_is_not_looked_at() -> None:
    both = shop(a={"key": ["id"]}, b={"key": ["id"]})
    applied = {"tables": [{"database": "shop", "schema": "public", "table": "a"}]}
    assert [table.name for table in captured(both, applied).tables] == ["a"]
    assert captured(both, {}).tables == ()


def test_nothing_that_runs_is_hidden() -> None:
    left = [Change("leave", "shop", "source_postgres_shop", "take out", "")]
    (drift,) = neutral.of_leaving(left)
    assert ("captured still" in drift.what, "lake apply --yes" in drift.now, drift.lost) == (True, True, False)
    running = {"source_postgres_shop": {"slot.name": "lake_shop"}, "old": {"slot.name": "lake_old"}, "sink": {}}
    (drift,) = neutral.of_undefined({"source_postgres_shop"}, running)
    assert "connector old runs with the slot lake_old" in drift.what


@pytest.mark.parametrize(("age_s", "told"), [(29.0, 0), (31.0, 1)])
def test_a_source_of_which_kafka_lacks_much(age_s: float, told: int) -> None:
    found = list(neutral.of_lag(DATABASE, age_s))
    assert [drift.lost for drift in found] == [False] * told
