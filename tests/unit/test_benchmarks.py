"""When measured figures meet their bars."""

import sys
from pathlib import Path

import pytest

from benchmarks import s3_requests, stages, synth
from benchmarks.freshness import met

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
    seen = dict(zip(BAR, visible, strict=True))
    figures = {"visible_s": seen, "status_s": {**status, "silent": 0}, "bar_s": BAR}
    assert met(figures) is is_met


@pytest.mark.parametrize(("here", "is_met"), [((8.0, 7.9, 30.0), True), ((8.1, 8.1, 1.0), False)])
def test_a_synth_is_compared_by_medians(here: tuple[float, ...], is_met: bool) -> None:
    """One run beside a busy neighbour does not decide."""
    assert synth.compared(here, (10.0, 10.0, 2.0))["met"] is is_met


def test_processor_time_is_divided_by_the_stage_of_each_stack() -> None:
    """What a stage calls belongs to it: Hudi's classes below the appender are its commit."""
    collapsed = [
        "java/lang/Thread.run;py4j/GatewayConnection.run;lake/hudi/Appender.commit;org/apache/hudi/io/A.append 30",
        "java/lang/Thread.run;org/apache/spark/executor/Executor.run;org/apache/hudi/io/A.append 10",
        "java/lang/Thread.run 20",
    ]
    found = stages.samples(collapsed, "stream")
    assert found == {"short road: commit": 30, "general road: write Hudi": 10, stages.REST: 20}
    assert stages.divided(6.0, found) == {"short road: commit": 3.0, "general road: write Hudi": 1.0, stages.REST: 2.0}


def test_a_jvm_without_samples_has_one_stage() -> None:
    assert stages.divided(6.0, stages.samples([], "connect")) == {stages.REST: 6.0}


def test_threads_of_the_jvm_itself_are_stages() -> None:
    names = ("C2 CompilerThre", "VM Thread", "GC Thread#0", "loop")
    assert [stages.thread_stage(name) for name in names] == [stages.COMPILERS, *[stages.COLLECTOR] * 2, None]
    assert stages.thread_stage(stages.PYTHON) == stages.PYTHON, "or its time is divided among Java's stages"


def test_no_module_hides_one_of_python() -> None:
    """The probe is a script, so modules of its folder come first: a profile.py there ended it, in Python's cProfile."""
    names = {path.stem for path in Path(synth.__file__).parent.glob("*.py")}
    assert not names & sys.stdlib_module_names


def line(operation: str, path: str, status: int = 200) -> str:
    """One of versitygw's access log."""
    time = "[29/November/2026:03:28:25 +0000]"
    return f"owner lake {time} 127.0.0.1 owner ID s3_{operation} - /lake{path} {status} - 0 0 0 0 - Hadoop 3.3.4"


def test_requests_are_counted_from_one_completed_commit_to_the_next() -> None:
    folder = "/silver/bench/t_mor/.hoodie"
    listing = line("ListObjectsV2", "?list-type=2&prefix=silver%2Fbench%2Ft_mor%2F.hoodie%2F")
    completed = line("PutObject", f"{folder}/20261129032825000.deltacommit")
    other = line("PutObject", "/silver/bench/u_mor/.hoodie/20261129032825001.deltacommit")
    begun = line("PutObject", f"{folder}/20261129032825000.deltacommit.requested")
    asked = line("HeadObject", f"{folder}/20261129032825000.deltacommit.requested", 404)
    lines = [listing, completed, listing, begun, asked, other, completed, asked, completed, listing]
    found = s3_requests.of_commits(lines, "bench/t_mor/")
    assert found == [{"ListObjectsV2": 1, "PutObject": 2, "HeadObject": 1}, {"HeadObject": 1, "PutObject": 1}]
    operations = {"commits": 2, "operations": dict(found[0])}
    assert s3_requests.figures(found) == {**operations, "requests": 4, "puts_and_lists": 2}
