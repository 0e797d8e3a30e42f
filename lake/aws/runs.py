"""Jobs as job runs of EMR Serverless: the same spark-submit as the steps of a cluster have, in its API's form.

The functions are those of steps.py. There is no start script: the function of the deployment fills in the pipeline
file, and whoever starts a continuous job ends the run of the same name before.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from lake.aws import steps
from lake.aws.part import LAKE_TAG
from lake.aws.processing import ONCE, Job, Size
from lake.aws.stack_outputs import StackOutputs
from lake.aws.workers import worker
from lake.rendering import sales
from lake.rendering.spark import ATTEMPTS

Run = dict[str, Any]

# EMR Serverless counts the failures of an hour, as YARN does, and gives up after as many.
CONTINUOUS: Run = {
    "mode": "STREAMING",
    "retryPolicy": {"maxFailedAttemptsPerHour": ATTEMPTS},
    "executionTimeoutMinutes": 0,  # never: without it, a run is cancelled after twelve hours
}
MAPS = ("tags", "properties")  # their keys are names of ours
SECRET = "SECRET"  # ends the name of a variable that holds a whole secret, where PASSWORD ends that of a password


def start(name: str, job: Job, outputs: StackOutputs) -> Run:
    """A continuous job of the environment."""
    submit = steps.submit_stream(name, job, outputs, more=_workers(job))
    return {**_run(name, submit, "stream", outputs), **CONTINUOUS}


def start_sales(name: str, words: Sequence[str], size: Size, outputs: StackOutputs) -> Run:
    """A job about sales that streams."""
    submit = steps.submit_sales(name, words, size, outputs, more=_workers(size))
    return {**_run(name, submit, sales.SCRIPT, outputs), **CONTINUOUS}


def run(script: str, outputs: StackOutputs, arguments: Sequence[str], name: str = "") -> Run:
    """A job that ends. EMR Serverless puts the secret into a variable of the driver, and into nothing else."""
    size = {key: value for key, value in steps.settings(ONCE).items() if "shuffle" not in key}
    submit = steps.submit_once(script, script, outputs, arguments, more={**size, **_workers(ONCE)})
    held = {
        f"spark.emr-serverless.driverEnv.{variable.removesuffix('PASSWORD')}{SECRET}": f"EMR.secret@{secret}"
        for variable, secret in steps.secrets_of(script, outputs).items()
    }
    properties = {"classification": "spark-defaults", "properties": held}
    overrides = {"configurationOverrides": {"applicationConfiguration": [properties]}}
    return {**_run(name or script, submit, script, outputs), **overrides, "mode": "BATCH"}


def _run(name: str, submit: Sequence[str], script: str, outputs: StackOutputs) -> Run:
    """A request of StartJobRun. ValueError for a setting with a space, which no quotes would keep whole."""
    main = list(submit).index(outputs.scripts[script])
    parameters = submit[:main]
    torn = [one for one in parameters if any(letter.isspace() for letter in one)]
    if torn:
        raise ValueError(f"a parameter of spark-submit with a space: {torn[0]}")
    driver = {
        "entryPoint": submit[main],
        "entryPointArguments": list(submit[main + 1 :]),
        "sparkSubmitParameters": " ".join(parameters),
    }
    return {
        "applicationId": outputs.cluster,
        "executionRoleArn": outputs.role,
        "name": name,
        "tags": {LAKE_TAG: outputs.name},
        "jobDriver": {"sparkSubmit": driver},
    }


def _workers(size: Size) -> Mapping[str, str]:
    """By default each worker has four vCPUs, and the memory that they need at least."""
    driver, executor = worker(size.driver_memory), worker(size.executor_memory)
    return {"spark.driver.cores": str(driver.vcpus), "spark.executor.cores": str(executor.vcpus)}


def as_scheduled(run: Run) -> Run:
    """The request as EventBridge Scheduler takes it: names with a capital, and the token of the start is its own id."""
    return {**_capital(run), "ClientToken": "<aws.scheduler.execution-id>"}


def _capital(value: Any) -> Any:
    if isinstance(value, list):
        return [_capital(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {f"{key[0].upper()}{key[1:]}": one if key in MAPS else _capital(one) for key, one in value.items()}
