"""Runs DAGs to their end by dag.test() of Airflow. Started by Airflow's own Python, not by the project's.

    python dag_runner.py <folder of the DAGs> <JSON: [[id, conf], ...]>

The last line of the output is JSON: for each run its state, and the state of each of its tasks.
"""

import json
import sys
from typing import Any

from airflow.models.dagbag import DagBag

LOOK_EVERY_S = 1


def main(folder: str, wishes: list[tuple[str, dict[str, Any]]]) -> None:
    sys.path.append(folder)  # as the DAG processor does
    import lake_steps
    import lakehouse

    lake_steps.LOOK_EVERY_S = lakehouse.LOOK_EVERY_S = LOOK_EVERY_S  # what is emulated takes no time
    bag = DagBag(folder, include_examples=False)
    assert bag.import_errors == {}, bag.import_errors
    print(json.dumps([run(bag.dags[name], conf) for name, conf in wishes]))


def run(dag: Any, conf: dict[str, Any]) -> dict[str, Any]:
    """One run, in which nothing is tried again: dag.test() would wait for it."""
    for task in dag.tasks:
        task.retries = 0
    done = dag.test(run_conf=conf)
    return {"state": str(done.state), "tasks": {one.task_id: str(one.state) for one in done.get_task_instances()}}


if __name__ == "__main__":
    main(sys.argv[1], json.loads(sys.argv[2]))
