"""The form of an archive: what the definition may say, and the folders that follow."""

from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError

from lake.config.definition import Database, Table
from lake.config.errors import BadInput
from lake.plan.preconditions import findings
from lake.rendering.pipeline import pipeline
from lake.rendering.streamer import refuse_unreadable
from lake.sources.findings import refuse
from spark_jobs.archive.form import Form, form_of
from tests import source_table
from tests.unit.test_plan import LOCAL, settled, shop

A = {"key": ["id"]}


def formed(**bronze: Any) -> Database:
    return shop(a={**A, "bronze": bronze})


@pytest.mark.parametrize(
    ("given", "entry", "form"),
    [
        ({}, None, Form()),
        ({"by": "partition", "format": "avro"}, None, Form()),
        ({"by": "day"}, {"by": "day"}, Form(by="day")),
        ({"by": ["country"]}, {"by": ["country"]}, Form(by=("country",))),
        ({"format": "parquet"}, {"format": "parquet"}, Form("parquet")),
        ({"format": "json", "max_records": 50}, {"format": "json", "max_records": 50}, Form("json", max_records=50)),
    ],
)
def test_the_jobs_read_what_the_definition_says(given: dict[str, Any], entry: Any, form: Form) -> None:
    (table,) = pipeline([formed(**given)], LOCAL)["tables"]
    assert table.get("bronze") == entry
    assert form_of(replace(source_table.table(), bronze=entry)) == form


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"format": "orc"}, "'avro', 'parquet' or 'json'"),
        ({"by": "country"}, "'country' is not a layout"),
        ({"by": []}, "is not a layout"),
        ({"by": ["a", "a"]}, "written twice"),
        ({"by": [""]}, "is no name"),
        ({"max_records": 0}, "greater than or equal to 1"),
        ({"size": 1}, "unexpected"),
    ],
)
def test_refused(given: dict[str, Any], says: str) -> None:
    with pytest.raises(ValidationError, match="(?i)" + says):
        Table(full_name="public.a", key=("id",), bronze=given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("form", "value", "folder"),
    [
        (Form(), "", "partition=3"),
        (Form(by="day"), "2026-01-09", "year=2026/month=01/day=09"),
        (Form(by=("country",)), '["United States"]', "country=United States"),
        (Form(by=("country",)), '["a/b=c:100%"]', "country=a%2Fb%3Dc%3A100%25"),
        (Form(by=("a", "b")), '[null,""]', "a=__HIVE_DEFAULT_PARTITION__/b=__HIVE_DEFAULT_PARTITION__"),
    ],
)
def test_folders_have_the_names_that_hive_gives(form: Form, value: str, folder: str) -> None:
    assert form.folder(3, value) == folder


@pytest.mark.parametrize("bronze", [{"by": "day"}, {"format": "json"}])
def test_an_archive_keeps_its_form(bronze: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match="has another form"):
        refuse(findings([formed(**bronze)], LOCAL, settled(shop(a=A))))
    assert findings([formed(max_records=5)], LOCAL, settled(shop(a=A))) == []


@pytest.mark.parametrize("names", [[], ["shop"], ["shop.a"], ["shop.public.a"]])
@pytest.mark.parametrize(
    ("database", "problem"),
    [
        (formed(format="parquet"), "an archive in parquet"),
        (shop(a=A).model_copy(update={"envelope": True}), "envelope: true"),
        (shop(a=A).model_copy(update={"format": "json"}), "format: json"),
    ],
)
def test_hoodie_streamer_reads_flat_rows_in_avro(database: Database, problem: str, names: list[str]) -> None:
    with pytest.raises(BadInput, match=problem):
        refuse_unreadable([database], names)


def test_hoodie_streamer_reads_any_layout_and_what_is_not_named_is_no_problem() -> None:
    refuse_unreadable([formed(by="day")], [])
    refuse_unreadable([formed(format="parquet")], ["shop.other", "other"])
