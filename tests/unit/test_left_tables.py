"""A Hudi table that nothing writes any more is named as long as its folder is there."""

from pathlib import Path

import pytest

from lake.clients.table_status import healthy
from lake.config.environment import load_environment
from lake.local.left_tables import left_tables
from lake.rendering.pipeline import pipeline, write_pipeline
from tests.unit.test_plan import shop


def test_what_left_the_definition_stays_named_until_its_folder_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAKE_DATA_DIR", str(tmp_path))
    home = load_environment()
    both = shop(a={"key": ["id"], "types": ["cow", "mor"]}, b={"key": ["id"]})
    write_pipeline(pipeline([both], home), home)
    silver = tmp_path / "s3" / home.bucket / "silver" / "shop"
    for name in ("a_cow", "a_mor", "b_mor", "quarantine"):
        (silver / name / ".hoodie").mkdir(parents=True)
    assert left_tables(home) == []
    write_pipeline(pipeline([shop(a={"key": ["id"], "types": ["cow"]})], home), home)
    found = left_tables(home)
    assert [one.name for one in found] == ["shop_mor.a", "shop_mor.b"]
    assert found[0].path == f"s3a://{home.bucket}/silver/shop/a_mor"
    (silver / "a_mor" / ".hoodie").rmdir()
    assert [one.name for one in left_tables(home)] == ["shop_mor.b"]
    assert not healthy([found[0].status], []), "left ones are not asked about their health"
