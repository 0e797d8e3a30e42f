"""The jobs of a lake on AWS."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from lake.aws.processing import STREAMER
from lake.config.errors import BadInput, LakeError
from lake.config.names import refuse_unknown
from lake.config.report import Report
from lake.deployments.aws_sales import AwsSales
from lake.deployments.cluster import ALIVE, Step
from lake.deployments.deployment import PROGRESS, Job
from lake.deployments.steps import Steps
from lake.rendering.sales import NO_OPTIONS, STREAMING, SalesOptions, check
from lake.rendering.streamer import RunOptions

FRESH_S = 60.0  # a job reports every second; the cluster's clock may differ
SUBMIT_WITHIN_S = 900.0
STOP_WITHIN_S = 600.0
BY_HAND = (STREAMER, *STREAMING)  # no deployment starts them


class AwsJobs:
    """The steps of the cluster, and the reports that continuous jobs write to S3."""

    def __init__(self, steps: Steps) -> None:
        self._steps = steps
        self._sales = AwsSales(steps)

    def all(self) -> list[Job]:
        """Continuous jobs first, those of BY_HAND only if they were started; then the steps, the newest first."""
        outputs = self._steps.find_outputs()
        if outputs is None:
            return [Job(name, True, "absent", reason="not deployed") for name in self._deployed]
        cluster = self._steps.cluster(outputs)
        state = cluster.state()
        known = cluster.steps()
        started = {one.name for one in known}
        wanted = [name for name in self._names if name not in BY_HAND or {name, f"stop {name}"} & started]
        here = [self._continuous(name, self._steps.report(name, outputs), known, state) for name in wanted]
        return here + [_once(one) for one in known if one.name not in self._names]

    @property
    def _deployed(self) -> list[str]:
        return self._steps.continuous

    @property
    def _names(self) -> list[str]:
        return [*self._deployed, *BY_HAND]

    def _continuous(self, name: str, report: Mapping[str, Any], steps: Sequence[Step], cluster: str) -> Job:
        progress = {key: report[key] for key in PROGRESS if key in report}
        return replace(self._in_state(name, report.get("at"), steps, cluster), progress=progress)

    def _in_state(self, name: str, at: float | None, steps: Sequence[Step], cluster: str) -> Job:
        """The newest start or stop step gives the wanted state; the report of the job gives the real state."""
        newest = next((one for one in steps if one.name in (name, f"stop {name}")), None)
        id, silent = newest.id if newest else "", None if at is None else max(0.0, time.time() - at)
        if cluster not in ALIVE:
            return Job(name, True, "stopped", id, silent, f"the cluster is {cluster}")
        if newest is None:
            return Job(name, True, "absent", "", silent, "never started on this cluster")
        if newest.name != name and newest.state == "COMPLETED":
            return Job(name, True, "stopped", id, silent)
        if newest.state in ("FAILED", "CANCELLED", "INTERRUPTED"):
            return Job(name, True, "stopped" if newest.name == name else "running", id, silent, newest.reason)
        if silent is not None and silent <= FRESH_S:
            return Job(name, True, "running", id, silent)
        begun = newest.ended.timestamp() if newest.ended else time.time()
        if at is None or at < begun:
            return Job(name, True, "starting" if time.time() - begun < SUBMIT_WITHIN_S else "silent", id, silent)
        return Job(name, True, "silent", id, silent, f"no report for {silent:.0f} s")

    def run(self, name: str, options: SalesOptions, report: Report) -> dict[str, Any]:
        return self._sales.run(name, options, report)

    def submit(self, name: str, report: Report, options: SalesOptions = NO_OPTIONS) -> Job:
        where = f"environments/{self._steps.environment.name}.yaml, key processing.jobs"
        refuse_unknown("continuous job", [name], self._names, where)
        if name in STREAMING:
            return self._submit_sales(name, options, report)
        check(name, options)
        if name == STREAMER:
            return self.start_streamer(RunOptions(), report)
        return self._accepted(name, self._steps.start(name), report)

    def _submit_sales(self, name: str, options: SalesOptions, report: Report) -> Job:
        self._sales.check(name, options)
        if options.anew:
            self.stop(name, report)
            self._sales.forget(name)
        return self._accepted(name, self._sales.start(name, options), report)

    def start_streamer(self, options: RunOptions, report: Report) -> Job:
        """Starts HoodieStreamer with options: which tables, and how."""
        return self._accepted(STREAMER, self._steps.start_streamer(options), report)

    def _accepted(self, name: str, id: str, report: Report) -> Job:
        self._steps.cluster().wait(id, report, SUBMIT_WITHIN_S)
        return next(one for one in self.all() if one.name == name)

    def stop(self, name: str, report: Report) -> Job:
        cluster = self._steps.cluster()
        if name in self._names:
            cluster.wait(self._steps.stop(name), report, STOP_WITHIN_S)
            return next(one for one in self.all() if one.name == name)
        step = self._step(name)
        if not step.done:
            cluster.cancel(step.id)
        return _once(cluster.step(step.id))

    def log(self, name: str, lines: int) -> list[str]:
        step = self._step(name)
        found = self._steps.cluster().log(step.id)
        if not found:
            raise LakeError("no log on S3 yet", f"step {step.id} ({step.name})", "EMR copies it every five minutes")
        return found[-lines:]

    def _step(self, name: str) -> Step:
        """The newest step of that name, or the step of that id."""
        for one in self._steps.cluster().steps():
            if name in (one.id, one.name):
                return one
        lake = self._steps.environment.name
        raise BadInput(f"there is no job or step '{name}'", lake, f"see: lake jobs list --env {lake}")


def _once(step: Step) -> Job:
    return Job(step.name, False, step.state.lower(), step.id, reason=step.reason)
