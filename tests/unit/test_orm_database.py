"""The generated database of an ORM has the tables that it promises."""

from benchmarks import orm_database


def test_it_has_200_tables_in_five_schemas_and_half_of_them_are_empty() -> None:
    tables = orm_database.tables()
    assert len({table.sql for table in tables}) == 200
    assert {sum(table.schema == schema for table in tables) for schema in orm_database.SCHEMAS} == {40}
    assert sum(table.is_empty for table in tables) == 100


def test_busy_tables_have_rows_and_are_of_all_schemas() -> None:
    busy = orm_database.busy(20)
    assert len({table.sql for table in busy}) == 20 and not any(table.is_empty for table in busy)
    assert {table.schema for table in busy} == set(orm_database.SCHEMAS)
