"""What the lake and its jobs each say for themselves, because neither imports the other, is the same."""

from lake import definition, verify
from lake.aws import steps
from spark_jobs import row_sql, source


def test_the_columns_that_are_added() -> None:
    assert set(definition.ADDED_COLUMNS) == row_sql.ADDED


def test_a_life_of_a_topic_has_so_many_offsets() -> None:
    assert definition.EPOCH_SIZE == row_sql.EPOCH_SIZE


def test_the_variable_of_the_password() -> None:
    assert verify.PASSWORD == steps.VERIFY_PASSWORD == source.PASSWORD
