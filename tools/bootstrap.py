"""Sets the project up: checks the machine, then fetches and builds into .venv/, build/ and node_modules/.

    python3 tools/bootstrap.py          # make setup; LAKE_RELEASE=emr-7.10.0 adds the Spark and Hudi of that release
    python3 tools/bootstrap.py kubeapi  # make kubeapi, after make setup: builds what tests/kube_api runs
    python3 tools/bootstrap.py iam      # make iam, after make setup: builds the local Kafka's login by IAM
    python3 tools/bootstrap.py airflow  # make airflow, after make setup: installs what the tests of the DAGs run
    python3 tools/bootstrap.py lock     # make lock: rewrites the lists of pins and checksums

Exit codes: 0 ready, 1 a step failed, 2 a precondition is not met (nothing was downloaded), 130 interrupted.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING

import preflight

if TYPE_CHECKING:
    from steps import Step

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FAILED = 1
MISSING = 2
INTERRUPTED = 130


def main(arguments: list[str]) -> int:
    if preflight.python_problem():
        return refuse(preflight.problems(ROOT))
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    try:
        return {"lock": lock, "kubeapi": kubeapi, "iam": iam, "airflow": airflow}.get("".join(arguments), setup)()
    except KeyboardInterrupt:
        print("interrupted; finished steps are kept; run it again to continue", file=sys.stderr)
        return INTERRUPTED


# The imports below are late on purpose: an old Python must get as far as its refusal in main().


def setup() -> int:
    from pathlib import Path

    import project
    import steps

    try:
        beside = [step for name in asked_release() for step in project.release_steps(Path(ROOT), name)]
    except ValueError as unknown:
        what, _, now = str(unknown).partition(" | ")
        return refuse([f"{what}; environment variable LAKE_RELEASE; {now}, or unset it"])
    stamps = steps.Stamps(Path(ROOT))
    todo = [*project.steps(Path(ROOT)), *beside]
    ready = all(stamps.up_to_date(step) for step in todo)
    needed_gib = preflight.FREE_GIB + (preflight.RELEASE_GIB if beside else 0)
    lacks = preflight.running_problems() if ready else preflight.problems(ROOT, needed_gib)
    if lacks:
        return refuse(lacks)
    if ready:
        return 0
    warn(preflight.node_warning())
    return exit_code(steps.perform(Path(ROOT), todo))


def asked_release() -> list[str]:
    """The release that LAKE_RELEASE names, if it is not the default. ValueError if it is unknown."""
    name = os.environ.get("LAKE_RELEASE")
    if not name:
        return []
    from pathlib import Path

    import project

    versions = project.versions(Path(ROOT))
    return [name] if versions.local_release(name) != versions.EMR else []


def kubeapi() -> int:
    from pathlib import Path

    import project

    return perform_extra(project.kube_steps(Path(ROOT)), preflight.KUBE_GIB)


def iam() -> int:
    from pathlib import Path

    import project

    return perform_extra(project.iam_steps(Path(ROOT)), 0)


def airflow() -> int:
    from pathlib import Path

    import project

    return perform_extra(project.airflow_steps(Path(ROOT)), preflight.AIRFLOW_GIB)


def perform_extra(todo: list[Step], needed_gib: float) -> int:
    """Steps that most people never need, with the disk that they take."""
    from pathlib import Path

    import steps

    if all(steps.Stamps(Path(ROOT)).up_to_date(step) for step in todo):
        return 0
    lack = preflight.disk_problem(ROOT, needed_gib)
    return refuse([lack]) if lack else exit_code(steps.perform(Path(ROOT), todo))


def lock() -> int:
    from pathlib import Path

    import project
    import steps

    lacks = preflight.problems(ROOT)
    if lacks:
        return refuse(lacks)
    return exit_code(steps.perform(Path(ROOT), project.lock_steps(Path(ROOT))))


def exit_code(ok: bool) -> int:
    return 0 if ok else FAILED


def warn(text: str | None) -> None:
    if text:
        print(f"warning: {text}", file=sys.stderr)


def refuse(lacks: list[str]) -> int:
    print("This machine does not meet the preconditions of the lake; nothing was downloaded:", file=sys.stderr)
    for lack in lacks:
        print(f"  - {lack}", file=sys.stderr)
    return MISSING


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
