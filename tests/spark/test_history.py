"""The moments that people write, and the instants that they mean."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from spark_jobs.hudi import time_travel
from spark_jobs.hudi.time_travel import Commit, NoSuchMoment

HALF_PAST = "20251121123000000"


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table with commits of the LSNs 0/64 and 0/C8, a table service between them, and nothing cleaned."""
    commits = [Commit("20250101000000000", 0x64), Commit("20250102000000000", None), Commit("20250103000000000", 0xC8)]
    monkeypatch.setattr(time_travel, "completed", lambda spark, path: commits)
    monkeypatch.setattr(time_travel, "cleaned_before", lambda spark, path: None)


@pytest.mark.parametrize(
    ("moment", "instant"),
    [
        ("20251121123000123", "20251121123000123"),
        ("20251121123000", "20251121123000999"),
        ("2025-11-21T12:30:00", HALF_PAST),
        ("2025-11-21 12:30:00", HALF_PAST),
        ("2025-11-21T12:30", HALF_PAST),
        ("2025-11-21 12:30", HALF_PAST),
        ("2025-11-21T12:30:00Z", HALF_PAST),
        ("2025-11-21t12:30z", HALF_PAST),
        ("2025-11-21 12:30:00+00", HALF_PAST),
        ("2025-11-21T13:30+01:00", HALF_PAST),
        ("2025-11-21T13:30+0100", HALF_PAST),
        ("2025-11-21 09:00:00-03:30", HALF_PAST),
        ("2025-11-22 02:30:00+14", HALF_PAST),
        ("2025-11-21 12:30:00.123456+00", "20251121123000123"),
        ("2025-11-21 12:30:00.1", "20251121123000100"),
        ("2025-11-21T13:30:00.1234+01:00", "20251121123000123"),
        ("2025-11-21", "20251121000000000"),
        ("0/65", "20250101000000000"),
        ("0/C8", "20250101000000000"),
    ],
)
def test_moments(kept: None, moment: str, instant: str) -> None:
    assert time_travel.instant_of(None, "t", moment) == instant  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("moment", "says"),
    [
        *(
            (nonsense, "is not a moment; give an instant")
            for nonsense in (
                "",
                "yesterday",
                "now()",
                "12:30",
                "2025-11",
                "2025-11-21T",
                "2025-11-21T12",
                "2025-11-21 12:30:00.1234567",
                "2025-11-21 12:30.5",
                "2025-11-21T25:00",
                "2025-11-21T12:60",
                "2025-02-30",
                "2025-11-21T12:30+1",
                "2025-11-21T12:30+01:60",
                "2025-11-21T12:30+99",
                "2025-11-21T12:30 Europe/Berlin",
                "2025-11-21T12:30:00\n",
                "0001-01-01T00:00+01",
                "21.11.2025 12:30",
                "20251321123000123",
                "2025112112300",
                "\u0662\u0660\u0662\u0665-11-21",
                "0/",
                "0/123456789",
            )
        ),
        ("2999-01-01", "2999-01-01 is in the future: the time here is 20"),
        ("0999-01-01", "0999-01-01 is before 20250101000000000"),
        ("2024-12-31", "the oldest moment that is kept completely"),
        ("0/64", "no kept commit is as old as LSN 0/64"),
        ("0/C9", "t has reached LSN 0/C8, not 0/C9: wait"),
    ],
)
def test_what_is_no_moment_of_the_table(kept: None, moment: str, says: str) -> None:
    with pytest.raises(NoSuchMoment) as refused:
        time_travel.instant_of(None, "t", moment)  # type: ignore[arg-type]
    assert says in str(refused.value)


def test_nothing_has_changed_yet_after_a_position_that_is_ahead(kept: None) -> None:
    assert time_travel.instant_of(None, "t", "0/C9", may_be_ahead=True) == "20250103000000000"  # type: ignore[arg-type]


def test_a_table_without_commits(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(NoSuchMoment, match=r"there is no table at .* yet"):
        time_travel.instant_of(spark, tmp_path.as_uri(), "2025-11-21")
