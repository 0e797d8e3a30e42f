"""What the lake and its jobs each say for themselves, because neither imports the other, is the same."""

from lake.aws import steps
from lake.config import definition, naming
from lake.local import parity
from lake.sources.postgres import catalog, session
from lake.sources.postgres import types as kept
from spark_jobs.events import flatten
from spark_jobs.parity import hashed
from spark_jobs.sources.postgres import reader, types


def test_the_columns_that_are_added() -> None:
    assert set(naming.ADDED_COLUMNS) == flatten.ADDED


def test_a_life_of_a_topic_has_so_many_offsets() -> None:
    assert definition.EPOCH_SIZE == flatten.EPOCH_SIZE


def test_the_settings_of_a_session_that_reads() -> None:
    assert (session.READER, session.NO_TIMEOUT) == (reader.SESSION, reader.NO_TIMEOUT)


def test_the_kinds_of_types_that_are_kept_whatever_their_name() -> None:
    assert (*kept.MADE, "x") == types.MADE
    assert catalog.OF_EXTENSION[1:-1] in reader.COLUMNS  # which are x


def test_the_variable_of_the_password() -> None:
    assert parity.PASSWORD == steps.VERIFY_PASSWORD == reader.PASSWORD
    assert parity.HASHES == steps.HASH_PASSWORD == hashed.SECRET
