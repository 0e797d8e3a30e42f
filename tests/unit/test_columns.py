"""Columns that are left out, hashed or named otherwise: what the connector is told, and what is refused."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from lake.config.definition import Database
from lake.config.environment import Environment
from lake.config.errors import BadInput
from lake.plan.diff import changes
from lake.plan.facts import Facts
from lake.plan.preconditions import findings
from lake.plan.refusals import refused_tables
from lake.rendering.pipeline import as_applied, pipeline
from lake.rendering.topics import topics
from lake.sources.connector import source_connector
from lake.sources.engine import SourceFacts
from lake.sources.postgres.catalog import Catalog, SourceTable, resolved
from lake.state import applied

LOCAL = Environment(name="local", root=Path(__file__).parents[2], data_dir="/data/lake")
NAMES = ["id", "ssn", "email", "userId", "note"]
TYPES = {"id": "integer", "ssn": "xml", "email": "text", "userId": "integer", "note": "jsonb"}
MASKED = {"ssn": "drop", "email": "hash", "userId": {"lake_name": "user_id"}}


def shop(columns: Mapping[str, Any], **settings: Any) -> Database:
    table = {"key": ["id"], **({"columns": dict(columns)} if columns else {}), **settings}
    return Database.model_validate({"database": "shop", "tables": {"public.people": table}})


def catalog(names: list[str] = NAMES, **changed: Any) -> Catalog:
    found = SourceTable("public.people", "r", "p", names, [], ["id"], [], types=TYPES)
    return Catalog("logical", [], True, {"public.people": replace(found, **changed)})


def known(columns: Mapping[str, Any], names: list[str] = NAMES, **settings: Any) -> Database:
    """With what was read from the source."""
    return resolved(shop(columns, **settings), catalog(names), {})


def settings(database: Database) -> dict[str, str]:
    return source_connector(database, LOCAL)


def leaves_out(database: Database, column: str) -> bool:
    """As Debezium reads its list: separated by commas, each a pattern of the whole name, without case."""
    patterns = settings(database)["column.exclude.list"].split(",")
    return any(re.fullmatch(python(one), f"public.people.{column}") for one in patterns)


def python(pattern: str) -> str:
    """A pattern of Java with the words of Python."""
    found = re.sub(r"\\Q(.*?)\\E", lambda quoted: re.escape(quoted[1]), pattern)
    return found.replace("(?-i)", "").replace(r"\z", r"\Z")


def settled(before: Database, now: Catalog) -> Facts:
    """What runs after an apply, and what the source has now."""
    wanted = topics(before, LOCAL)
    present = {topic.name: topic for topic in wanted}
    source = {"shop": SourceFacts(now, [], [])}
    return Facts(source, wanted, present, {"shop": settings(before)}, pipeline([before], LOCAL))


def refusals(database: Database, facts: Facts) -> list[str]:
    return [f"{one.where}: {one.what}; {one.now}" for one in findings([database], LOCAL, facts)]


def test_only_columns_that_are_known_leave_the_source() -> None:
    people = known(MASKED)
    assert [name for name in [*NAMES, "renamed", "ID", "id\n", "email2", "a\nb"] if leaves_out(people, name)] == [
        *("ssn", "renamed", "ID", "id\n", "email2", "a\nb")
    ]


def test_names_that_are_patterns_are_names() -> None:
    names = ["id", "a.c", "first name", "x,y"]
    people = known({"ssn": "drop"}, [*names, "ssn"])
    pattern = settings(people)["column.exclude.list"]
    assert "," not in pattern and " " not in pattern
    assert not leaves_out(people, "id") and leaves_out(people, "abc")


def test_a_table_of_which_nothing_is_hidden_takes_new_columns() -> None:
    assert "column.exclude.list" not in settings(known({"userId": {"lake_name": "user_id"}}))


def test_a_column_is_hashed_before_anybody_sees_it() -> None:
    found = settings(known(MASKED))
    assert found["converters"] == "hashed,exact"  # the first that takes a column
    assert found["hashed.type"] == "lake.connect.HashedColumns"
    assert found["hashed.columns"] == r"(?-i)\Qpublic.people.email\E"
    assert found["hashed.secret"] == "${file:/data/lake/secrets/hashes.properties:password}"
    assert settings(known({"ssn": "drop"}))["converters"] == "exact"


def test_names_are_told_by_topic() -> None:
    found = settings(known({**MASKED, "email": {"hash": True, "lake_name": "mail"}}))
    named = {key: text for key, text in found.items() if key.startswith("transforms.names.named.")}
    assert named == {
        "transforms.names.named.shop.public.people.user_id": "userId",
        "transforms.names.named.shop.public.people.mail": "email",
    }


def test_the_jobs_know_what_the_lake_has() -> None:
    (entry,) = pipeline([known(MASKED)], LOCAL)["tables"]
    assert entry["columns"] == MASKED
    assert entry["taken"] == ["id", "email", "userId", "note"]
    (plain,) = pipeline([known({})], LOCAL)["tables"]
    assert not {"columns", "taken"} & set(plain)


def test_a_key_may_have_another_name() -> None:
    (entry,) = pipeline([known({"id": {"lake_name": "person"}})], LOCAL)["tables"]
    assert (entry["keys"], entry["source_keys"]) == (["person"], ["id"])


def test_without_a_source_the_definition_must_list_the_columns() -> None:
    with pytest.raises(BadInput, match="no source is read here"):
        settings(shop(MASKED))
    listed = shop({"*": "drop", "email": "hash", "note": "keep"})
    assert [name for name in [*NAMES, "new"] if not leaves_out(listed, name)] == ["id", "email", "note"]


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ({"id": "drop"}, "column 'id' is of the key"),
        ({"id": "hash"}, "column 'id' is of the key"),
        ({"note": "hash"}, "column 'note' names folders"),
        ({"ssn": "mask"}, "'mask' is nothing to do with a column"),
        ({"ssn": {"drop": True, "lake_name": "x"}}, "write drop alone"),
        ({"*": "hash"}, "can only be left out"),
        ({"ssn": {"lake_name": "Ssn"}}, "not a plain name"),
        ({"ssn": {"lake_name": "__op"}}, "only the pipeline gives"),
        ({"ssn": {"lake_name": "x"}, "email": {"lake_name": "x"}}, "ssn and email would both become x"),
    ],
)
def test_a_definition_that_contradicts_itself_is_refused(columns: dict[str, Any], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        shop(columns, partition=["note"])


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ({"sn": "drop"}, "has no column 'sn': was it renamed?"),
        ({"note": "hash"}, "column 'note' is jsonb"),
        ({"note": {"lake_name": "userid"}}, "columns note and userId would both become userid"),
    ],
)
def test_a_definition_that_the_source_contradicts_is_refused(columns: dict[str, Any], says: str) -> None:
    people = resolved(shop(columns), catalog(), {})
    nothing = Facts({"shop": SourceFacts(catalog(), [], [])}, [], {}, {"shop": None}, {})
    (found,) = refusals(people, nothing)
    assert says in found and "databases/shop.yaml, key tables.public.people.columns." in found


def test_a_column_that_the_lake_cannot_keep_may_be_dropped() -> None:
    odd = catalog(unmapped=["ssn xml"])
    nothing = Facts({"shop": SourceFacts(odd, [], [])}, [], {}, {"shop": None}, {})
    assert refusals(resolved(shop({"ssn": "drop"}), odd, {}), nothing) == []
    assert any("can't keep: ssn xml" in one for one in refusals(resolved(shop({}), odd, {}), nothing))


def test_a_column_that_a_migration_renamed_stays_in_the_source() -> None:
    """Its table is refused, and what runs goes on with the columns that it had, whatever else is applied."""
    now = catalog(["id", "social", "email", "userId", "note"])
    people, facts = resolved(shop(MASKED), now, {}), settled(known(MASKED), now)
    refused = refused_tables([people], findings([people], LOCAL, facts))
    assert refused == {("shop", "public.people")}
    assert changes([people], LOCAL, facts, refused) == []


def test_a_new_column_is_taken_by_the_next_apply_which_says_so() -> None:
    now = catalog([*NAMES, "phone"])
    people, facts = resolved(shop(MASKED), now, {}), settled(known(MASKED), now)
    assert leaves_out(known(MASKED), "phone") and not leaves_out(people, "phone")
    (update,) = [change for change in changes([people], LOCAL, facts) if change.kind == "connector"]
    assert "takes phone of public.people, too" in update.detail
    assert "leaves out ssn of public.people" in update.detail and "hashes email of public.people" in update.detail
    hidden = resolved(shop({**MASKED, "phone": "drop"}), now, {})
    assert findings([hidden], LOCAL, facts) == [] and leaves_out(hidden, "phone")


@pytest.mark.parametrize("columns", [{}, {"ssn": "drop"}, {**MASKED, "note": "drop"}, {**MASKED, "ssn": "keep"}])
def test_what_the_lake_has_of_a_column_never_changes(columns: dict[str, Any]) -> None:
    people, facts = known(columns), settled(known(MASKED), catalog())
    assert all("docs/definition.md, Columns" in one for one in refusals(people, facts))
    refused = refused_tables([people], findings([people], LOCAL, facts))
    assert refused and changes([people], LOCAL, facts, refused) == []


def test_a_dropped_column_that_is_gone_may_leave_the_definition() -> None:
    now = catalog(["id", "email", "userId", "note"])
    rest = {name: what for name, what in MASKED.items() if name != "ssn"}
    assert findings([resolved(shop(rest), now, {})], LOCAL, settled(known(MASKED), now)) == []


def test_a_table_that_left_the_definition_hides_what_it_hid(tmp_path: Path) -> None:
    home = Environment(name="local", root=LOCAL.root, data_dir=str(tmp_path))
    applied.save(home, [known(MASKED)])
    assert applied.load(home)["shop"].by_name["public.people"].columns == known(MASKED).by_name["public.people"].columns
    again = as_applied(applied.load(home)["shop"], pipeline([known(MASKED)], LOCAL))
    assert settings(again) == settings(known(MASKED))
