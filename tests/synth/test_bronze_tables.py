"""The archives of the posts as tables of Glue."""

import pytest

from lake.config.environment import PROJECT
from tests.synth.synthesis import Synthesized, varied


@pytest.fixture(scope="module")
def posts(tmp_path_factory: pytest.TempPathFactory) -> Synthesized:
    """The development environment with the definitions of the posts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAKE_DATABASES_DIR", str(PROJECT / "posts" / "databases"))
        return varied(tmp_path_factory.mktemp("posts"), "dev", {})


def test_the_archive_of_films_is_a_table(posts: Synthesized) -> None:
    assert posts.failure == ""
    tables = {one["TableInput"]["Name"]: one for _, one in posts.resources("AWS::Glue::Table")}
    film = tables["film"]
    assert film["DatabaseName"] == "pagila_bronze"
    names = [column["Name"] for column in film["TableInput"]["StorageDescriptor"]["Columns"]]
    assert names[:2] == ["before", "after"]
    assert film["TableInput"]["PartitionKeys"] == [{"Name": "partition", "Type": "int"}]
    assert film["TableInput"]["Parameters"]["projection.partition.type"] == "integer"
    assert "bronze/topics/pagila.public.film" in str(film["TableInput"]["StorageDescriptor"]["Location"])


def test_the_outbox_is_one_too_with_partitions_that_the_job_adds(posts: Synthesized) -> None:
    tables = {one["TableInput"]["Name"]: one for _, one in posts.resources("AWS::Glue::Table")}
    outbox = tables["cdc_events"]["TableInput"]
    assert [key["Name"] for key in outbox["PartitionKeys"]] == ["customer_id", "order_id"]
    assert "customer_id" not in [column["Name"] for column in outbox["StorageDescriptor"]["Columns"]]
    assert "projection.enabled" not in outbox["Parameters"]


def test_each_table_stands_in_a_database_that_is_made_first(posts: Synthesized) -> None:
    databases = {one["DatabaseInput"]["Name"] for _, one in posts.resources("AWS::Glue::Database")}
    assert {"pagila_bronze", "datalake_bronze", "tickit_cdc_hudi", "datalake"} <= databases
    template = posts.templates["catalog"]["Resources"]
    made = [one for one in template.values() if one["Type"] == "AWS::Glue::Table"]
    assert made and all(one["DependsOn"] for one in made)
