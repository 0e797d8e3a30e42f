"""What the lake and its jobs each say for themselves, because neither imports the other, is the same."""

import json
import re
from pathlib import Path

from lake import definition, verify
from lake.aws import steps
from spark_jobs import parity, row_sql, source

ROOT = Path(__file__).parents[2]
JAVA = ROOT / "connect_transforms/src/main/java/lake/connect/NameUnavailable.java"


def test_the_columns_that_are_added() -> None:
    assert set(definition.ADDED_COLUMNS) == row_sql.ADDED


def test_a_life_of_a_topic_has_so_many_offsets() -> None:
    assert definition.EPOCH_SIZE == row_sql.EPOCH_SIZE


def test_the_placeholder_of_a_large_value() -> None:
    connector = json.loads((ROOT / "connector_configs/source_postgres_kafka.json").read_text())
    written = re.search(r'PLACEHOLDER = "(.*)"', JAVA.read_text())
    assert written
    assert parity.PLACEHOLDER == connector["unavailable.value.placeholder"] == json.loads(f'"{written[1]}"')


def test_the_variable_of_the_password() -> None:
    assert verify.PASSWORD == steps.VERIFY_PASSWORD == source.PASSWORD
