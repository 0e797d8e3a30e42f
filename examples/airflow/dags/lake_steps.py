"""Work of the lake as steps of its EMR cluster.

A deployment leaves each step ready in the Parameter Store: /lake/<environment>/steps/<name>, next to the outputs of its
stacks in /lake/<environment>/sheet. So Airflow needs neither the lake's code nor a password, only rights to read these
parameters and to add steps to the cluster.
"""

import json
from typing import Any

from airflow.providers.amazon.aws.hooks.ssm import SsmHook
from airflow.providers.amazon.aws.operators.emr import EmrAddStepsOperator
from airflow.sdk import BaseOperator, task

ENVIRONMENT = "{{ var.value.lake_environment }}"  # the name of a file in environments/, such as dev
LOOK_EVERY_S = 30


@task(multiple_outputs=True)
def read_step(environment: str, name: str) -> dict[str, Any]:
    """The id of the cluster, and the one step, as the API of EMR takes it."""
    parameters = SsmHook()
    outputs = json.loads(parameters.get_parameter_value(f"/lake/{environment}/sheet"))
    step = json.loads(parameters.get_parameter_value(f"/lake/{environment}/steps/{name}"))
    return {"cluster": outputs["cluster"], "steps": [step]}


def run_step(name: str, hours: int) -> BaseOperator:
    """Reads a step, adds it to the cluster and waits until it has ended. The task fails when the step fails.

    name may be a template.
    """
    found = read_step(ENVIRONMENT, name)
    return EmrAddStepsOperator(
        task_id="run_step",
        job_flow_id=found["cluster"],
        steps=found["steps"],
        wait_for_completion=True,
        waiter_delay=LOOK_EVERY_S,
        waiter_max_attempts=hours * 3600 // LOOK_EVERY_S,
    )
