"""Cases A37 and A38: the sales of the post about Structured Streaming, with its numbers."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from lake.config.environment import PROJECT
from lake.local import processes
from lake.local.sales import SalesStream
from lake.rendering.sales import AVRO_SALES, DATA, SALES
from tests.acceptance.shop import Shop, as_the_post_has_it, totals
from tests.clocks import HANG_S, until
from tests.running_lake import RunningLake

pytestmark = pytest.mark.integration
SEED, ALL = 250, 2050
# A37, of 68 countries and of 105.
SEED_FIRST = [
    ("India", "138.80", 20),
    ("China", "133.80", 20),
    ("Mexico", "106.86", 14),
    ("Japan", "100.86", 14),
    ("Brazil", "96.87", 13),
    ("Russian Federation", "94.87", 13),
    ("United States", "92.86", 14),
]
SEED_25TH = ("Peru", "19.98", 2)
ALL_FIRST = [
    ("China", "1379.05", 195),
    ("India", "1338.10", 190),
    ("United States", "915.69", 131),
    ("Mexico", "855.80", 120),
    ("Japan", "831.88", 112),
]
ALL_25TH = ("Colombia", "144.78", 22)
# A38. The post's file of regions breaks the line of Virgin Islands, U.S.
AMERICA, NOWHERE = ("Latin America", "2549.33", 367), ("Unassigned", "348.48", 52)
POSTS_AMERICA, POSTS_NOWHERE = ("Latin America", "2545.34", 366), ("Unassigned", "352.47", 53)
OTHERS = [
    ("Asia & Pacific", "5780.88", 812),
    ("Europe", "3081.74", 426),
    ("Africa", "1029.59", 141),
    ("North America", "997.57", 143),
    ("Middle East", "541.23", 77),
    ("Arab States", "244.68", 32),
]


def assert_seed(found: list[tuple[str, str, int]]) -> None:
    assert (len(found), found[:7], found[24]) == (68, SEED_FIRST, SEED_25TH)


def assert_all(found: list[tuple[str, str, int]]) -> None:
    assert (len(found), found[:5], found[24]) == (105, ALL_FIRST, ALL_25TH)


@pytest.fixture(scope="module")
def shop(lake: RunningLake, spark: SparkSession) -> Iterator[Shop]:
    shop = Shop(lake, spark)
    shop.empty()
    yield shop


@pytest.fixture(scope="module")
def seeded(shop: Shop) -> dict[str, Any]:
    """The seed in Kafka, sent by `lake jobs run`, and what was made of it."""
    sent = shop.lake.json("jobs", "run", "sales-seed")
    refused = shop.lake.run("jobs", "run", "sales-seed", check=False)
    found = {"sent": sent, "refused": refused, "batch": [shop.run("sales-batch") for _ in range(2)]}
    for name in ("sales-console", "sales-totals"):
        found[name] = shop.stream(name)
    return {**found, "kept": shop.kept("sales-console")}


@pytest.fixture(scope="module")
def grown(shop: Shop, seeded: dict[str, Any]) -> dict[str, Any]:
    """The other 1,800 sales, and what was made of all."""
    sent = shop.run("sales-incremental", rate=0)
    found = {"sent": sent, "batch": shop.run("sales-batch")}
    for name in ("sales-console", "sales-totals"):
        found[name] = shop.stream(name)
    return {**found, "kept": shop.kept("sales-console"), "results": shop.run("sales-results")}


def test_a37_on_the_seed(seeded: dict[str, Any]) -> None:
    assert seeded["sent"] == {"topic": SALES, "sent": SEED}
    assert_seed(totals(seeded["kept"], "country"))
    assert_seed(totals(seeded["batch"][0]["rows"], "country"))
    report = seeded["sales-console"]
    assert report["sources"][0]["startOffset"] is None
    assert report["sources"][0]["endOffset"] == {SALES: {"0": SEED}}
    assert report["stateOperators"][0]["numRowsTotal"] == 68


def test_a_reading_job_has_the_same_result_twice(seeded: dict[str, Any]) -> None:
    first, second = seeded["batch"]
    assert first == second


def test_a_producer_refuses_a_topic_that_holds_its_sales(seeded: dict[str, Any]) -> None:
    assert seeded["refused"].returncode == 2
    assert f"already holds {SEED} of these {SEED} sales" in seeded["refused"].stderr


def test_a37_on_all_sales(grown: dict[str, Any]) -> None:
    assert grown["sent"]["sent"] == ALL - SEED
    assert grown["sales-console"]["sources"][0]["startOffset"] == {SALES: {"0": SEED}}
    assert_all(totals(grown["kept"], "country"))
    assert_all(totals(grown["batch"]["rows"], "country"))
    assert grown["results"]["rows"] == grown["batch"]["rows"]


def test_missing_sales_alone_are_sent(shop: Shop, grown: dict[str, Any]) -> None:
    assert shop.run("sales-incremental", rate=0, missing=True)["sent"] == 0


def test_a38_with_the_corrected_file(shop: Shop, grown: dict[str, Any]) -> None:
    shop.stream("sales-regions", format="parquet")
    found = totals(shop.kept("sales-regions", "parquet"), "region")
    assert found == sorted([*OTHERS, AMERICA, NOWHERE], key=lambda row: -float(row[1]))
    assert sum(orders for *_, orders in found) == ALL


def test_a38_in_windows_with_the_posts_file(shop: Shop, grown: dict[str, Any], tmp_path: Path) -> None:
    regions = as_the_post_has_it(DATA / "sales_regions.csv", tmp_path / "regions.csv")
    shop.stream("sales-region-windows", regions=str(regions))
    rows = shop.kept("sales-region-windows")
    assert sum(int(row["orders"]) for row in rows) == 2 * ALL
    both: dict[str, tuple[int, int]] = {}
    for row in rows:  # each sale is in two windows: twice the money, and twice the orders
        cents, orders = both.get(row["region"], (0, 0))
        both[row["region"]] = (cents + round(float(row["sales"]) * 100), orders + int(row["orders"]))
    found = {(region, f"{cents / 200:.2f}", orders // 2) for region, (cents, orders) in both.items()}
    assert found == {*OTHERS, POSTS_AMERICA, POSTS_NOWHERE}


def test_both_plots_are_drawn_from_what_the_streams_kept(shop: Shop, grown: dict[str, Any], tmp_path: Path) -> None:
    shop.stream("sales-region-windows", anew=True)
    command = [sys.executable, "tools/sales_plots.py", "--folder", str(tmp_path)]
    subprocess.run(command, env=shop.lake.environment, cwd=PROJECT, check=True)
    totals, regions = ((tmp_path / f"{name}.svg").read_text() for name in ("running_totals", "regions_by_window"))
    assert [text for text in ("China", "133.8", "1379.05") if text not in totals] == []
    assert [text for text in ("Asia &amp; Pacific", "Unassigned") if text not in regions] == []


def test_windows_by_country(shop: Shop, grown: dict[str, Any]) -> None:
    shop.stream("sales-windows")
    assert sum(int(row["orders"]) for row in shop.kept("sales-windows")) == 2 * ALL


def test_the_same_windows_in_avro(shop: Shop, grown: dict[str, Any]) -> None:
    ids = [one["id"] for one in shop.run("sales-avro-schemas")["schemas"]]
    assert ids == [one["id"] for one in shop.run("sales-avro-schemas")["schemas"]]
    assert shop.run("sales-avro-produce", rate=0) == {"topic": AVRO_SALES, "sent": ALL - SEED}
    shop.stream("sales-avro-regions")
    result = shop.run("sales-avro-results")
    assert result["orders"] == 2 * (ALL - SEED)
    assert {row["region"] for row in result["rows"]} == {name for name, *_ in [*OTHERS, AMERICA, NOWHERE]}


@pytest.mark.slow
def test_a_killed_stream_goes_on_to_the_exact_totals(shop: Shop) -> None:
    """kill -9 while the sales arrive: its supervisor starts it again, and it goes on from its checkpoint."""
    shop.empty()
    lake = shop.lake
    lake.run("jobs", "run", "sales-seed")
    lake.run("jobs", "submit", "sales-totals", "--trigger", "1", "--anew")
    until(lambda: reached(lake) == SEED, "the seed was not totalled")
    (java,) = [one for one in processes.of_service(lake.home.data, "sales-totals") if one.name() == "java"]
    with sending(lake) as producer:
        until(lambda: SEED < reached(lake) < ALL, "no batch ended while the sales arrived")
        java.kill()
        assert reached(lake) < ALL
        assert producer.wait(HANG_S) == 0
    until(lambda: reached(lake) == ALL, "the stream did not go on")
    (second,) = [one for one in processes.of_service(lake.home.data, "sales-totals") if one.name() == "java"]
    assert second.pid != java.pid
    lake.run("jobs", "stop", "sales-totals")
    assert_all(totals(lake.json("jobs", "run", "sales-results")["rows"], "country"))


def reached(lake: RunningLake) -> int:
    """The offset that the stream of totals has reached."""
    ends = SalesStream(lake.home, "sales-totals").reported().get("offsets", {}).get("end") or {}
    return sum(sum(partitions.values()) for partitions in ends.values())


@contextmanager
def sending(lake: RunningLake) -> Iterator[subprocess.Popen[bytes]]:
    """The other sales on their way, 100 a second."""
    command = [sys.executable, "-m", "lake.cli.main", "jobs", "run", "sales-incremental", "--rate", "100"]
    with subprocess.Popen(command, env=lake.environment, cwd=PROJECT) as producer:
        try:
            yield producer
        finally:
            producer.terminate()
