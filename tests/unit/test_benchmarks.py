"""When a measured freshness meets its bars, and what a table's timeline says."""

import io
import json
from typing import Any

import pytest

from benchmarks.freshness import met
from benchmarks.stored import Timeline

BAR = {"p50": 1.5, "p95": 2.5}


@pytest.mark.parametrize(
    ("visible", "status", "is_met"),
    [
        pytest.param((1.13, 1.63), {"p50": 1.16, "p95": 1.77}, True, id="fast, and status agrees"),
        pytest.param((1.6, 2.0), {"p50": 1.6, "p95": 2.0}, False, id="too slow"),
        pytest.param((1.0, 1.6), {"p50": 1.0, "p95": 1.9}, False, id="status says more"),
        pytest.param((1.0, 1.6), {"p50": 0.8, "p95": 1.6}, False, id="status says less"),
        pytest.param((1.0, 1.6), {}, False, id="status says nothing"),
    ],
)
def test_both_bars_count(visible: tuple[float, float], status: dict[str, float], is_met: bool) -> None:
    """Here the timeline is as stale as what queries see."""
    seen = dict(zip(BAR, visible, strict=True))
    figures = {"visible_s": seen, "stored_s": seen, "status_s": {**status, "silent": 0}, "bar_s": BAR}
    assert met(figures) is is_met


class Bucket:
    """The objects of a bucket, as boto3 lists and reads them."""

    def __init__(self) -> None:
        self.files: dict[str, dict[str, Any]] = {}

    def list_objects_v2(self, Bucket: str, Prefix: str, StartAfter: str) -> dict[str, Any]:
        keys = [key for key in sorted(self.files) if key.startswith(Prefix) and key > StartAfter]
        return {"Contents": [{"Key": key} for key in keys]} if keys else {}

    def get_object(self, Bucket: str, Key: str) -> dict[str, Any]:
        return {"Body": io.StringIO(json.dumps(self.files[Key]))}


def test_a_commit_counts_once_it_is_complete() -> None:
    bucket, folder = Bucket(), "silver/bench/orders_mor/.hoodie/"
    line = Timeline(bucket, "lake", "silver/bench/orders_mor")
    assert line.messages() == 0
    bucket.files[folder + "001.deltacommit"] = {"extraMetadata": {"lake.offsets": '{"0": 7}'}}
    assert line.messages() == 7
    bucket.files[folder + "002.deltacommit.inflight"] = {"extraMetadata": {"lake.offsets": '{"0": 9}'}}
    bucket.files[folder + "003.commit"] = {"extraMetadata": {}}  # a compaction
    assert line.messages() == 7
    bucket.files[folder + "002.deltacommit"] = {"extraMetadata": {"lake.offsets": '{"0": 9}'}}
    assert line.messages() == 9
