"""When measured figures meet their bars."""

import pytest

from benchmarks import synth
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
