"""The plots of sales: lines and bars of what the streams kept."""

import io
from typing import Any

import pytest

from lake.config.errors import BadInput
from tools import sales_plots

FIRST = "country|sales|orders|at\nChina|10.00|2|2026-11-28T12:00:00.000Z\nPeru|9.50|1|2026-11-28T12:00:00.000Z\n"
SECOND = FIRST.replace("10.00", "21.25").replace("12:00", "12:01")
WINDOWS = (
    "region|sales|orders|window_start|window_end|at\n"
    "Africa|3.00|1|2026-11-28T12:00:00.000Z|2026-11-28T12:10:00.000Z|x\n"
    "Europe|4.00|1|2026-11-28T12:00:00.000Z|2026-11-28T12:10:00.000Z|x\n"
    "Africa|5.00|1|2026-11-28T12:05:00.000Z|2026-11-28T12:15:00.000Z|x\n"
)


class Bucket:
    """An S3 with these objects."""

    def __init__(self, objects: dict[str, str]) -> None:
        self.objects = objects

    def get_paginator(self, _: str) -> "Bucket":
        return self

    def paginate(self, Bucket: str, Prefix: str) -> list[dict[str, Any]]:
        return [{"Contents": [{"Key": key} for key in self.objects if key.startswith(Prefix)]}, {}]

    def get_object(self, Bucket: str, Key: str) -> dict[str, Any]:
        return {"Body": io.BytesIO(self.objects[Key].encode())}


def test_batches_are_in_the_order_of_their_numbers() -> None:
    objects = {"sales/j/batch=000000010/part-1.csv": SECOND, "sales/j/batch=000000009/part-0.csv": FIRST}
    ignored = {"sales/j/batch=000000010/_SUCCESS": "", "sales/other/batch=000000001/part-0.csv": FIRST}
    found = sales_plots.batches(Bucket({**objects, **ignored}), "lake", "j")
    assert list(found) == [9, 10] and found[10][0]["sales"] == "21.25"


def test_a_stream_that_kept_nothing_is_named() -> None:
    with pytest.raises(BadInput, match="j kept nothing as CSV"):
        sales_plots.batches(Bucket({"sales/j/batch=000000001/part-0.parquet": ""}), "lake", "j")


def test_running_totals_are_a_line_for_each_country() -> None:
    objects = {f"sales/j/batch=00000000{n}/part-0.csv": text for n, text in enumerate((FIRST, SECOND))}
    chart = sales_plots.running_totals(sales_plots.batches(Bucket(objects), "lake", "j"))
    assert chart.raw_series == [([10.0, 21.25], {"title": "China"}), ([9.5, 9.5], {"title": "Peru"})]
    drawn = chart.render(is_unicode=True)
    assert "2026-11-28 12:01" in drawn
    assert ".js" not in drawn  # it loads nothing from elsewhere


def test_a_region_without_sales_in_a_window_has_no_bar_there() -> None:
    (rows,) = sales_plots.batches(Bucket({"sales/j/batch=000000001/part-0.csv": WINDOWS}), "lake", "j").values()
    chart = sales_plots.regions_by_window(rows)
    assert chart.raw_series == [([3.0, 5.0], {"title": "Africa"}), ([4.0, None], {"title": "Europe"})]
    assert "2026-11-28 12:05" in chart.render(is_unicode=True)
