"""Workers of EMR Serverless: the sizes that AWS offers."""

import pytest

from lake.aws.processing import Size
from lake.aws.workers import Worker, worker


@pytest.mark.parametrize(
    ("heap", "vcpus", "memory_gb"),
    [("512m", 1, 2), ("2g", 1, 3), ("4g", 2, 5), ("7g", 4, 8), ("26g", 8, 32), ("30g", 16, 40), ("108g", 16, 120)],
)
def test_a_heap_fits_with_what_spark_needs_beside_it(heap: str, vcpus: int, memory_gb: int) -> None:
    assert worker(heap) == Worker(vcpus, memory_gb)


def test_a_heap_that_no_worker_has_is_refused() -> None:
    with pytest.raises(ValueError, match="110g is more than a worker of EMR Serverless has"):
        worker("110g")


def test_an_application_takes_its_driver_and_its_executors() -> None:
    assert Size(driver_memory="2g", executor_memory="4g", executors=3).workers == Worker(1 + 3 * 2, 3 + 3 * 5)
