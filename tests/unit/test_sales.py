"""The jobs about sales: what a producer sends and when, and what the command line takes."""

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from lake.aws.environment import load_aws_environment
from lake.config.environment import PROJECT, load_environment
from lake.config.errors import BadInput
from lake.deployments.aws import AwsDeployment
from lake.deployments.local_jobs import LocalJobs
from lake.local.sales import SalesStream, arguments, submitted
from lake.local.stack import Stack
from lake.rendering import sales
from lake.rendering.sales import DATA, JOBS, SalesOptions
from spark_jobs.runtime.batch_job import Refused
from spark_jobs.sales import producers
from tests.acceptance.shop import as_the_post_has_it

HEADER = "payment_id|customer_id|amount|payment_date|city|district|country"
LINE = "16940|130|5.99|2021-05-08|guas Lindas de Gois|Gois|Brazil"
NOON = datetime(2026, 11, 28, 12, tzinfo=UTC)


def sale(number: int) -> dict[str, str]:
    return {"payment_id": str(number), "country": "Peru"}


# --- What is sent.


def test_the_files_are_what_the_post_had() -> None:
    seed = producers.parsed((DATA / "sales_seed.csv").read_text(), "seed")
    others = producers.parsed((DATA / "sales_incremental_large.csv").read_text(), "others")
    assert (len(seed), len(others)) == (250, 1800)
    assert len({one["payment_id"] for one in seed + others}) == 2050


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("payment_id|amount\n1|2", "the header line must be payment_id|"),
        (f"{HEADER}\n{LINE}\n{LINE.replace('5.99', 'much')}", "f:3: .* must be numbers"),
        (f"{HEADER}\n{LINE.replace('|Brazil', '')}", "f:2: a sale has 7 fields"),
        (f"{HEADER}\n{LINE}|more", "f:2: a sale has 7 fields"),
        (f"{HEADER}\n{LINE.replace('Brazil', '')}", "f:2: a sale has 7 fields, and a country"),
    ],
)
def test_a_file_with_something_else_is_refused(text: str, reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        producers.parsed(text, "f")


def test_sales_that_the_topic_holds_are_sent_when_asked_for_only() -> None:
    three = [sale(number) for number in (1, 2, 3)]
    assert producers.to_send(three, {9}, "t", again=False, missing=False) == three
    assert producers.to_send(three, {2, 9}, "t", again=True, missing=False) == three
    assert producers.to_send(three, {2, 9}, "t", again=False, missing=True) == [sale(1), sale(3)]
    with pytest.raises(Refused, match="topic t already holds 1 of these 3 sales: --missing"):
        producers.to_send(three, {2, 9}, "t", again=False, missing=False)


def test_the_seed_was_sold_one_a_second_until_now() -> None:
    dated = producers.just_sold([sale(1), sale(2)], NOON)
    assert [one["payment_date"] for one in dated] == ["2026-11-28T11:59:58+00:00", "2026-11-28T11:59:59+00:00"]


class Clock:
    """A time that goes on in sleep() alone."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def test_two_a_second() -> None:
    clock = Clock()
    sent = [(clock.now, len(part)) for part in producers.paced([sale(n) for n in range(4)], 2, clock, clock.sleep)]
    assert sent == [(0.0, 1), (0.5, 1), (1.0, 1), (1.5, 1)]


def test_a_late_part_is_a_larger_one() -> None:
    clock, sent = Clock(), []
    for part in producers.paced([sale(n) for n in range(10)], 2, clock, clock.sleep):
        sent.append(len(part))
        clock.now += 2.0  # Kafka takes its time
    assert sent == [1, 4, 4, 1]


def test_all_at_once() -> None:
    assert [len(part) for part in producers.paced([sale(n) for n in range(5)], 0)] == [5]


# --- What the command line takes.


@pytest.mark.parametrize("name", JOBS)
def test_a_name_fits_where_names_of_jobs_stand(name: str) -> None:
    assert re.fullmatch(r"[a-z][a-z0-9-]{0,20}", name)


@pytest.mark.parametrize(
    ("name", "options", "reason"),
    [
        ("sales-batch", {"rate": 2.0}, "sales-batch takes no --rate"),
        ("sales-console", {"regions": "x"}, "sales-console takes no --regions"),
        ("stream", {"anew": True}, "stream takes no --anew"),
        ("sales-seed", {"again": True, "missing": True}, "exclude each other"),
        ("sales-regions", {"regions": "nowhere.csv"}, "there is no such file"),
    ],
)
def test_an_option_that_a_job_does_not_take_is_refused(name: str, options: dict[str, Any], reason: str) -> None:
    with pytest.raises(BadInput, match=reason):
        sales.check(name, SalesOptions(**options))


def test_a_job_of_the_wrong_kind_is_refused() -> None:
    jobs = LocalJobs(load_environment())
    with pytest.raises(BadInput, match="no job that ends 'sales-console'"):
        jobs.run("sales-console", SalesOptions(), print)
    with pytest.raises(BadInput, match="no continuous job 'sales-batch'"):
        jobs.submit("sales-batch", print)


def test_an_environment_without_these_jobs_refuses_them_before_it_asks_aws() -> None:
    jobs = AwsDeployment(load_aws_environment(PROJECT, "prod"), []).jobs
    for ask in (lambda: jobs.submit("sales-console", print), lambda: jobs.run("sales-seed", SalesOptions(), print)):
        with pytest.raises(BadInput, match=r"prod has no jobs about sales.*key processing.sales"):
            ask()


@pytest.mark.parametrize("name", JOBS)
def test_a_job_gets_what_it_needs(name: str) -> None:
    found = arguments(load_environment(), name, SalesOptions())
    job = JOBS[name]
    assert found[0] == name.removeprefix("sales-")
    assert found[found.index("--kafka") + 1].startswith("kafka.bootstrap.servers=127.0.0.1:")
    assert ("--source" in found, "--sink" in found) == (bool(job.source), bool(job.sink))
    assert ("--checkpoint" in found) == ("--status" in found) == (not job.ends)
    assert "" not in found  # a step of EMR takes no empty argument


def test_options_become_arguments() -> None:
    found = arguments(load_environment(), "sales-incremental", SalesOptions(rate=0.0, missing=True))
    assert "--missing" in found and "--again" not in found and "--rate" not in found  # 0 is the default of the job
    usual = arguments(load_environment(), "sales-incremental", SalesOptions())
    assert usual[usual.index("--rate") + 1] == "2.0"
    often = arguments(load_environment(), "sales-windows", SalesOptions(trigger=0.0))
    assert often[often.index("--trigger-s") + 1] == "0.0"


def test_a_submitted_job_is_a_service_until_it_is_withdrawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAKE_DATA_DIR", str(tmp_path))
    home = load_environment()
    job = SalesStream(home, "sales-regions")
    job.submit(SalesOptions(trigger=7.0))
    assert [one.name for one in submitted(home)] == ["sales-regions"]
    assert "7.0" in Stack(home).service("sales-regions").program().command
    job.withdraw()
    assert submitted(home) == []


def test_anew_forgets_the_checkpoint_of_one_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAKE_DATA_DIR", str(tmp_path))
    home = load_environment()
    folders = [tmp_path / "checkpoints" / "sales" / name for name in ("sales-regions", "sales-totals")]
    for folder in folders:
        folder.mkdir(parents=True)
    SalesStream(home, "sales-regions").forget()
    assert [folder.exists() for folder in folders] == [False, True]


def test_the_posts_file_differs_in_the_virgin_islands_alone(tmp_path: Path) -> None:
    """The acceptance case makes it from the corrected one."""
    ours = DATA / "sales_regions.csv"
    posts = as_the_post_has_it(ours, tmp_path / "regions.csv").read_text().splitlines()
    different = [line for line, other in zip(posts, ours.read_text().splitlines(), strict=True) if line != other]
    assert different == ['""Virgin Islands"," U.S."","Latin America"']
