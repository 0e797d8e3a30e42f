"""All sample databases, by name."""

from collections.abc import Callable

from lake.config.environment import Environment
from lake.samples import moma, northwind, pagila, tickit
from lake.samples.loading import Counts, Report

SAMPLES: dict[str, Callable[[Environment, Report], Counts]] = {
    sample.DATABASE: sample.load for sample in (moma, pagila, northwind, tickit)
}
