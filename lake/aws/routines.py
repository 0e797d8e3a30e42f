"""The repeated work of a lake as steps that are ready to be added, by whoever knows the time and nothing of the lake.

A deployment keeps each one in a parameter of Systems Manager, where Airflow reads it (examples/airflow), and in the
target of a schedule, if the environment has one (operations.schedule).
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from lake.aws import runs, steps
from lake.aws.environment import AwsEnvironment
from lake.aws.processing import STREAMER
from lake.aws.steps import COMPACT, StackOutputs
from lake.config import versions
from lake.config.names import refuse_unknown
from lake.config.refinement import REFINE, read_refinement

FOLDER = "routines"  # of their results, below the state of the jobs
VERIFY, BULK_LOAD = "verify", "bulk-load"
Step = dict[str, Any]


def parameter(environment: str, routine: str) -> str:
    """The parameter of Systems Manager that holds a step as JSON."""
    return f"/lake/{environment}/steps/{routine}"


def routines(environment: AwsEnvironment, root: Path, outputs: StackOutputs) -> dict[str, Step]:
    """What ends by itself, by the name of its routine: steps, or on EMR Serverless requests of StartJobRun.

    BadInput for a file of operations.refine.
    """
    config, ready = steps.config(environment.processing, outputs), {}
    for name, (script, words) in _scripts(environment, root, outputs).items():
        arguments = [*config, *words, "--output", outputs.remembered(FOLDER, f"{name}.json")]
        if outputs.serverless:
            ready[name] = runs.run(script, outputs, arguments, name)
        else:
            ready[name] = steps.step(name, steps.run(script, outputs, arguments))
    return ready


def _scripts(environment: AwsEnvironment, root: Path, outputs: StackOutputs) -> dict[str, tuple[str, list[str]]]:
    """The script of each routine and its arguments, but for --config and --output."""
    wanted = [read_refinement(root / file, []) for file in environment.operations.refine]
    once = replace(environment.processing.streamer.options, once=True)
    bulk = (
        {} if versions.no_streamer(environment.processing.release) else {BULK_LOAD: steps.streamer_words(once, outputs)}
    )
    return {
        VERIFY: ("verify", steps.login(outputs)),
        COMPACT: (COMPACT, []),
        **{name: (STREAMER, words) for name, words in bulk.items()},
        **{f"{REFINE}-{one.name}": (REFINE, steps.refine_words(one, outputs)) for one in wanted},
    }


def job_steps(commands: Mapping[str, list[str]], outputs: StackOutputs) -> dict[str, Step]:
    """The steps that start and stop the continuous jobs: start-stream, stop-stream. commands: those that start them."""
    starts = {f"start-{name}": steps.step(name, command) for name, command in commands.items()}
    stops = {f"stop-{name}": steps.step(f"stop {name}", steps.stop(name, outputs)) for name in commands}
    return {**starts, **stops}


def scheduled(
    environment: AwsEnvironment, ready: Mapping[str, Step], wish: Callable[[Step], Step]
) -> dict[str, tuple[str, Step]]:
    """The expression of each schedule and the input of its call. BadInput for one without a routine."""
    schedule = environment.operations.schedule
    refuse_unknown("routine", schedule, ready, f"environments/{environment.name}.yaml, key operations.schedule")
    return {name: (expression, wish(ready[name])) for name, expression in schedule.items()}
