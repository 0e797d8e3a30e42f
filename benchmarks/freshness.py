"""Freshness: from the commit in PostgreSQL to a new query of a warm Spark session, on merge-on-read tables.

At random moments the probe queries a table for its newest change. The age of that change is the table's staleness. At a
steady rate of changes the staleness over time and the lag over changes have the same distribution. `visible` counts
until the query has read the table's timeline, `answered` until its last row. `lake status` must agree with `visible`.
"""

import json
import random
import shlex
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import IO, Any

from benchmarks.bench_lake import DATABASE, BenchLake, console
from benchmarks.steady import steady_lake
from benchmarks.writer import SteadyWriter
from lake.clients.stream_status import reported
from lake.config.environment import PROJECT, Environment
from lake.local.spark_submit import spark_conf, spark_environment

WARM_S = 180.0  # the just-in-time compilers of both sessions are busy until then
MEASURE_S = 720.0  # some 120 samples: their p50 is good to about 5 %, their p95 to 10 %
# On average. A query keeps one of two cores busy for a second, and commits in that second take longer. `lake status`
# counts these commits, so the probe must meet the same share of them. Moments of a Poisson process do (Wolff 1982,
# "Poisson arrivals see time averages"), if a query does not wait for the answer to the query before.
EVERY_S = 6.0
POINTS = {"visible": "planned", "answered": "answered"}
Sample = dict[str, Any]
BARS = {1: (1.5, 2.5), 5: (3.0, 5.0)}  # number of tables: p50, p95 in seconds
STATUS_WITHIN = 0.1  # `lake status` may differ by this share from what the probe sees


def measure(tables: int) -> dict[str, Any]:
    """The figures for this number of tables."""
    with steady_lake(tables) as (lake, writers):
        return {"tables": tables, **_figures(lake, writers, tables)}


def met(figures: dict[str, Any]) -> bool:
    """True if changes are visible within the bars and `lake status` agrees."""
    seen, status, bar = figures["visible_s"], figures["status_s"], figures["bar_s"]
    agrees = all(share in status and abs(status[share] / seen[share] - 1) <= STATUS_WITHIN for share in bar)
    return agrees and all(seen[share] <= bar[share] for share in bar)


def _figures(lake: BenchLake, writers: dict[str, SteadyWriter], tables: int) -> dict[str, Any]:
    wait_for_tables(lake, list(writers))
    samples = _probe(lake, writers)
    p50, p95 = BARS[tables]
    return {
        "samples": len(samples),
        **{f"{point}_s": _quantiles([sample[point] for sample in samples]) for point in POINTS},
        "status_s": _status([sample["status"] for sample in samples]),
        "bar_s": {"p50": p50, "p95": p95},
    }


def wait_for_tables(lake: BenchLake, names: list[str]) -> None:
    """Returns once each table has a commit. Raises TimeoutError."""
    deadline = time.monotonic() + 180
    while not all("lsn" in reported(lake.home).get(f"{DATABASE}_mor.{name}", {}) for name in names):
        if time.monotonic() > deadline:
            raise TimeoutError(f"no commit yet: {reported(lake.home)}")
        time.sleep(0.5)


def _probe(lake: BenchLake, writers: dict[str, SteadyWriter]) -> list[Sample]:
    home = lake.home
    hive = {f"{DATABASE}_mor.{name}_rt": name for name in writers}
    variables = spark_environment(home, home.secrets.s3_keys)
    environment = {**variables, "PYSPARK_SUBMIT_ARGS": _submit_arguments(home)}
    command = [sys.executable, str(PROJECT / "benchmarks" / "probe.py"), *hive]
    with (
        (lake.data / "probe.log").open("w") as log,
        subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
        ) as probe,
    ):
        assert probe.stdin and probe.stdout
        _await_ready(probe.stdout)
        console.print(f"probe ready; {WARM_S:.0f} s to warm up, {MEASURE_S:.0f} s to measure")
        with ThreadPoolExecutor(1) as reader:
            answers = reader.submit(_answers, probe.stdout, hive, writers, home)
            with probe.stdin as questions:  # the probe ends with its input, and so the answers end
                early = _ask(questions, list(hive), WARM_S)
                asked = _ask(questions, list(hive), MEASURE_S)
            samples = answers.result()
    if len(samples) < early + asked:
        raise RuntimeError(f"{early + asked} questions, {len(samples)} answers: see probe.log")
    return samples[early:]


def _submit_arguments(home: Environment) -> str:
    flags = [f"--conf {shlex.quote(f'{name}={value}')}" for name, value in spark_conf(home).items()]
    return " ".join([*flags, "--master local[1] --driver-memory 1g pyspark-shell"])


def _await_ready(lines: Iterable[str]) -> None:
    """Returns once the probe is warm; RuntimeError if the probe ends before that."""
    if not any(line.startswith("ready") for line in lines):
        raise RuntimeError("the probe ended: see probe.log")


def _ask(questions: IO[str], tables: list[str], seconds: float) -> int:
    """Sends queries at moments fixed beforehand: a slow answer must not delay the next query (coordinated omission).

    Returns the number of queries; BrokenPipeError if the probe has ended.
    """
    due, asked = time.monotonic(), 0
    end = due + seconds
    while (due := due + random.expovariate(1 / EVERY_S)) < end:
        time.sleep(max(0.0, due - time.monotonic()))
        print(random.choice(tables), file=questions, flush=True)
        asked += 1
    return asked


def _answers(
    lines: Iterable[str], hive: dict[str, str], writers: dict[str, SteadyWriter], home: Environment
) -> list[Sample]:
    """For each answer, the age in seconds of the newest change that the query saw, and the report of `lake status`."""
    return [_sample(json.loads(line), hive, writers, reported(home)) for line in lines if line.startswith("{")]


def _sample(
    answer: dict[str, Any], hive: dict[str, str], writers: dict[str, SteadyWriter], facts: dict[str, Any]
) -> Sample:
    committed = writers[hive[answer["table"]]].committed[answer["seq"]]
    return {
        **{point: answer[moment] - committed for point, moment in POINTS.items()},
        "status": [facts[f"{DATABASE}_mor.{name}"]["lag_ms"] for name in writers],
    }


def _status(reports: list[list[dict[str, float | None]]]) -> dict[str, float]:
    """The mean of the reports. Each report covers the minute before it, so those of the first minute are left out.

    silent: the number of reports about a table without a change in its last minute; they cannot enter the mean.
    """
    later = [lag for report in reports[round(60 / EVERY_S) :] for lag in report]
    known = {share: [value for lag in later if (value := lag[share]) is not None] for share in ("p50", "p95", "p99")}
    means = {share: round(statistics.mean(lags) / 1000, 2) for share, lags in known.items() if lags}
    return {**means, "silent": sum(lag["p50"] is None for lag in later)}


def _quantiles(values: list[float]) -> dict[str, float]:
    cuts = statistics.quantiles(values, n=100, method="inclusive")
    return {"p50": round(cuts[49], 2), "p95": round(cuts[94], 2), "p99": round(cuts[98], 2)}
