"""What controllers and a kubelet would report: Deployments become available, Jobs run and end.

A stand-in, and the one thing here that is not Kubernetes' own: helm waits for what it says.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from tests.charts.rendering import Manifest
from tests.kube_api.kube import Kube

LOOK_EVERY_S = 0.05
Runs = Callable[[Manifest], bool]


@contextmanager
def at_work(kube: Kube, run_job: Runs) -> Iterator[None]:
    """In the namespace of kube; run_job tells whether the pod of a Job ended well."""
    over = threading.Event()
    thread = threading.Thread(target=_until, args=(over, kube, run_job))
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _until(over: threading.Event, kube: Kube, run_job: Runs) -> None:
    while not over.wait(LOOK_EVERY_S):
        for deployment in kube.all("apps/v1", "Deployment"):
            if deployment["status"].get("observedGeneration") != deployment["metadata"]["generation"]:
                kube.set_status(deployment, available(deployment))
        for job in kube.all("batch/v1", "Job"):
            if not job["status"].get("conditions"):
                kube.set_status(job, ended(run_job(job)))


def available(deployment: Manifest) -> dict[str, Any]:
    counts = ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas")
    return {
        "observedGeneration": deployment["metadata"]["generation"],
        **dict.fromkeys(counts, deployment["spec"]["replicas"]),
        "conditions": [
            {"type": "Available", "status": "True", "reason": "MinimumReplicasAvailable"},
            {"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable"},
        ],
    }


def ended(well: bool) -> dict[str, Any]:
    """The server checks these, too: no end without a cause, no success without a time."""
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    kinds = ("SuccessCriteriaMet", "Complete") if well else ("FailureTarget", "Failed")
    conditions = [{"type": kind, "status": "True", "lastTransitionTime": now} for kind in kinds]
    return {"startTime": now, **({"completionTime": now} if well else {}), "conditions": conditions}
