"""Names in the lake that are not those of the source."""

import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from lake.aws.rendering import glue_databases
from lake.config.definition import Database, load_databases
from lake.config.environment import PROJECT
from lake.config.errors import BadInput
from lake.config.names import named_targets
from lake.plan.preconditions import findings
from lake.rendering.pipeline import pipeline
from lake.rendering.streamer import Places, streamer
from lake.sources.drift import loss
from lake.sources.findings import refuse
from tests.unit.test_plan import LOCAL, settled

PLACES = Places("s3a://b/bronze/topics", "s3a://b/streamer", "file:///f", "http://registry")


# A name in a command that a message suggests, as it is.
UNQUOTED = re.compile(
    r"""\blake (?:recover|resnapshot|verify|init|compact|sql|quarantine|refine|streamer)\b[^"'{]*\{"""
)


def test_a_suggested_command_is_one_for_a_shell() -> None:
    assert loss(Database.model_construct(database="it's new"), "", "").now == """lake recover 'it'"'"'s new'"""
    files = (PROJECT / "lake").rglob("*.py")
    assert [str(path) for path in files if UNQUOTED.search(path.read_text())] == []


def tickets(**settings: Any) -> Database:
    sale = {"key": ["salesid"], "types": ["cow", "mor"]}
    content = {"database": "tickit", "tables": {"ecomm.sale": sale}, **settings}
    return Database.model_validate(content)


def test_one_database_of_the_catalog_holds_both_types() -> None:
    database = tickets(lake_name="tickit_cdc_hudi")
    (table,) = pipeline([database], LOCAL)["tables"]
    assert [target["hive"] for target in table["targets"]] == [
        ["tickit_cdc_hudi.sale"],
        ["tickit_cdc_hudi.sale_rt", "tickit_cdc_hudi.sale_ro"],
    ]
    synced = {target["options"]["hoodie.datasource.hive_sync.database"] for target in table["targets"]}
    assert synced == {"tickit_cdc_hudi"}
    assert len({target["path"] for target in table["targets"]}) == 2
    assert list(database.hudi_tables) == ["tickit_cow.sale", "tickit_mor.sale"]  # for commands: one name for each


def test_a_table_has_another_name_in_the_lake() -> None:
    database = tickets(tables={"ecomm.sale": {"key": ["salesid"], "types": ["cow"], "lake_name": "sales"}})
    content = pipeline([database], LOCAL)
    (target,) = content["tables"][0]["targets"]
    assert target["hive"] == ["tickit_cow.sales"]
    assert target["path"].endswith("/silver/tickit/sales_cow")
    assert target["options"]["hoodie.table.name"] == "sales"
    assert content["tables"][0]["topic"] == "tickit.ecomm.sale"
    assert named_targets(content, ["tickit.sales"]) == list(database.hudi_tables) == ["tickit_cow.sales"]


def test_nothing_is_written_for_a_table_that_keeps_its_name() -> None:
    assert "lake_name" not in pipeline([tickets()], LOCAL)["tables"][0]


def test_hoodie_streamer_stays_apart() -> None:
    (cow, mor) = streamer([tickets(lake_name="tickit_cdc_hudi")], PLACES)["targets"]
    assert (cow["name"], mor["name"]) == ("tickit_cow_streamer.sale", "tickit_mor_streamer.sale")
    files = streamer([tickets(lake_name="tickit_cdc_hudi")], PLACES)["files"]
    assert "hive_sync.database=tickit_cdc_hudi_streamer\n" in files["tickit.sale_cow.properties"]


def test_the_catalog_on_aws_has_the_name() -> None:
    found = glue_databases([tickets(lake_name="tickit_cdc_hudi")])
    assert found["tickit_cdc_hudi"] == "silver/tickit"
    assert "tickit_cow" not in found


SALE_RT = {"ecomm.sale": {"key": ["id"]}, "ecomm.sale_rt": {"key": ["id"], "types": ["cow"]}}


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"lake_name": "default"}, "has for others"),
        ({"lake_name": "Tickit"}, "not a plain name"),
        ({"lake_name": "t", "tables": SALE_RT}, "both become t.sale_rt"),
        (
            {"tables": {name: {"key": ["id"], "lake_name": "x"} for name in ("a.sale", "b.x")}},
            "both become tickit_mor.x_rt | capture one of them, or give one a lake_name",
        ),
    ],
)
def test_refused(settings: dict[str, Any], says: str) -> None:
    with pytest.raises(ValidationError) as refused:
        tickets(**settings)
    assert says in str(refused.value)


def test_two_databases_may_not_give_one_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a", "b"):
        text = f"database: {name}\nlake_name: shop\ntables: {{public.t: {{key: [id]}}}}\n"
        (tmp_path / f"{name}.yaml").write_text(text)
    monkeypatch.setenv("LAKE_DATABASES_DIR", str(tmp_path))
    with pytest.raises(BadInput, match=r"databases a and b would both have a table shop\.t"):
        load_databases(tmp_path)


@pytest.mark.parametrize("settings", [{"lake_name": "other"}, {"tables": {"public.a": {"lake_name": "b"}}}])
def test_a_table_that_is_built_keeps_its_name(settings: dict[str, Any]) -> None:
    content: dict[str, Any] = {"database": "shop", "tables": {"public.a": {"key": ["id"]}}}
    before = Database.model_validate(content)
    tables = {"public.a": {"key": ["id"], **settings.get("tables", {}).get("public.a", {})}}
    after = Database.model_validate({**content, **settings, "tables": tables})
    with pytest.raises(BadInput, match="set lake_name back"):
        refuse(findings([after], LOCAL, settled(before)))
