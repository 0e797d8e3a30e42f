"""The rules of names: what each promises for any name that PostgreSQL allows."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from lake.config.definition import Database
from lake.config.naming import (
    PLAIN,
    capture_name,
    is_added_column,
    joined,
    quoted,
    record_name,
    split,
    stored_columns,
    topic_part,
)
from lake.rendering.pipeline import pipeline
from lake.rendering.topics import topics
from lake.sources.postgres.relations import selector, signalled
from spark_jobs.events import message_form
from spark_jobs.sources import names as of_jobs
from tests.unit.test_plan import LOCAL

ALPHABET = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
NAMES = st.text(st.one_of(ALPHABET, st.sampled_from("aA-_.\"' 0f6")), min_size=1, max_size=63).filter(
    lambda name: len(name.encode()) <= 63
)
COLUMNS = st.lists(NAMES, min_size=1, max_size=8, unique=True)


@given(NAMES, NAMES)
def test_two_names_never_share_a_part_of_a_topic(one: str, other: str) -> None:
    assert (topic_part(one) == topic_part(other)) == (one == other)


@given(NAMES)
def test_kafka_takes_each_part(name: str) -> None:
    part = topic_part(name)
    assert re.fullmatch("[A-Za-z0-9_-]{1,80}", part)
    assert part == name or not PLAIN.match(name)


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("my-shop", "my-shop"),
        ("OrderItem", "OrderItem"),
        ("my-cafe", "my-2dcafe"),
        ("a.b", "a-2eb"),
        ("größe", "gr-c3-b6-c3-9fe"),
        ("x" * 63, "x" * 63),
    ],
)
def test_parts_of_topics(name: str, part: str) -> None:
    assert topic_part(name) == part


@given(COLUMNS)
def test_columns_of_a_table_are_told_apart(names: list[str]) -> None:
    stored = stored_columns(names, names[:1])
    assert len(set(stored.values())) == len(names)
    assert all(PLAIN.match(name) and not is_added_column(name) for name in stored.values())
    assert stored == of_jobs.stored_columns(names, names[:1], {})


@given(COLUMNS)
def test_a_later_column_renames_none(names: list[str]) -> None:
    before = stored_columns(names[:-1], names[:1])
    after = stored_columns(names, names[:1])
    assert {name: after[name] for name in before} == before


def test_columns() -> None:
    names = ["id", "userId", "first name", "größe", "1st", "order", "__deleted", "_hoodie_file_name", "userid"]
    assert list(stored_columns(names, ["id"]).values()) == [
        *("id", "userid", "first_name", "gr__e", "_1st", "order", "source__deleted", "source_hoodie_file_name"),
        "userid_f132696e",
    ]


def test_a_name_that_a_person_chose_is_nobody_elses() -> None:
    names, chosen = ["id", "userId", "user id", "mail"], {"userId": "user_id", "mail": "id_2"}
    expected = {"id": "id", "userId": "user_id", "user id": "user_id_f8c3fcf8", "mail": "id_2"}
    assert stored_columns(names, ["id"], chosen) == of_jobs.stored_columns(names, ["id"], chosen) == expected


def test_a_column_of_the_key_is_named_first() -> None:
    assert stored_columns(["userId", "userid"], ["userid"])["userid"] == "userid"


@given(NAMES, NAMES)
def test_names_of_tables_are_read_as_they_are_written(schema: str, table: str) -> None:
    assert split(joined(schema, table)) == (schema, table)
    assert split(f"{quoted(schema)}.{quoted(table)}") == (schema, table)


@pytest.mark.parametrize("name", ["orders", "a.b.c", "a.", '"a.b', "", 'a."b".c'])
def test_no_name_of_a_table(name: str) -> None:
    assert split(name) is None


@given(NAMES, NAMES)
def test_slots_have_names_of_their_own(one: str, other: str) -> None:
    assert re.fullmatch("[a-z0-9_]{1,63}", capture_name(one))
    assert one == other or capture_name(one) != capture_name(other)


def test_a_plain_database_keeps_its_slot() -> None:
    assert capture_name("moma") == "lake_moma"


@given(NAMES)
def test_the_jobs_know_the_names_of_records(name: str) -> None:
    assert record_name(topic_part(name)) == message_form.record_name(topic_part(name))


@pytest.mark.parametrize(
    ("table", "pattern"),
    [
        ("public.orders", "(?-i)public.orders"),
        ("public.OrderItem", r"(?-i)\Qpublic.OrderItem\E"),
        ("public.a,b", r"(?-i)\Qpublic.a\E\x2c\Qb\E"),
        (r"public.a\Eb", r"(?-i)\Qpublic.a\E\\E\Qb\E"),
        ('public."a.b"', r"(?-i)\Qpublic.a.b\E"),
    ],
)
def test_a_connector_selects_one_table(table: str, pattern: str) -> None:
    assert selector(table) == pattern


@pytest.mark.parametrize(
    ("table", "name"),
    [
        ("public.orders", "public.orders"),
        ("public.OrderItem", '"public"."OrderItem"'),
        ('"a.b".c d', '"a.b"."c d"'),
    ],
)
def test_a_signal_names_one_table(table: str, name: str) -> None:
    assert signalled(table) == name


def shop(*tables: str, **settings: object) -> Database:
    return Database.model_validate(
        {"database": "my-shop", "tables": {name: {"key": "userId", **settings} for name in tables}}
    )


def test_a_database_with_names_of_an_orm() -> None:
    content = pipeline([shop("public.OrderItem")], LOCAL)
    (table,) = content["tables"]
    assert (table["schema"], table["table"], table["lake_name"]) == ("public", "OrderItem", "orderitem")
    assert (table["topic"], table["capture"]) == ("my-shop.public.OrderItem", capture_name("my-shop"))
    assert (table["keys"], table["source_keys"]) == (["userid"], ["userId"])
    (target,) = table["targets"]
    assert target["hive"] == ["my_shop_mor.orderitem_rt", "my_shop_mor.orderitem_ro"]
    assert target["path"].endswith("/silver/my-shop/orderitem_mor")
    assert content["quarantine"]["my-shop"]["hive"] == ["my_shop_quarantine.messages"]


def test_one_name_in_two_schemas() -> None:
    found = shop("archive.orders", "public.orders", "Sales.orders")
    assert [table.stored_as for table in found.tables] == ["archive_orders", "orders", "sales_orders"]


def test_a_table_is_named_in_one_form() -> None:
    assert list(shop('"public"."OrderItem"', '"a.b"."c""d"').by_name) == ["public.OrderItem", '"a.b"."c""d"']
    with pytest.raises(ValidationError, match="written twice"):
        shop('public."OrderItem"', "public.OrderItem")


def test_topics_that_kafka_takes_for_one() -> None:
    with pytest.raises(ValidationError, match="dots and underscores only"):
        shop("a_b.c", "a.b_c")


def test_the_longest_names_fit_into_a_topic() -> None:
    database = Database.model_validate({"database": "ä" * 31, "tables": {f"{'ö' * 31}.{'ü' * 31}": {"key": "id"}}})
    assert all(len(topic.name) <= 249 for topic in topics(database, LOCAL))


@pytest.mark.parametrize("name", ["a/b", "a?b", "a%b", "a+b", "${x}", " a", "x" * 64])
def test_databases_that_no_address_names(name: str) -> None:
    with pytest.raises(ValidationError):
        Database.model_validate({"database": name, "tables": {"public.a": {"key": "id"}}})
