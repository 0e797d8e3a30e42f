"""The jobs of a lake on AWS."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from lake.aws.processing import STREAMER
from lake.config.errors import BadInput, LakeError
from lake.config.names import refuse_unknown
from lake.config.report import Report
from lake.deployments.aws_sales import AwsSales
from lake.deployments.deployment import PROGRESS, Job
from lake.deployments.runner import SUBMIT_WITHIN_S, Runner, Step
from lake.deployments.steps import Steps
from lake.rendering.sales import NO_OPTIONS, STREAMING, SalesOptions, check
from lake.rendering.streamer import RunOptions

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
        here = [self._continuous(cluster, name, self._steps.report(name, outputs), known, state) for name in wanted]
        return here + [_once(one) for one in known if one.name not in self._names]

    @property
    def _deployed(self) -> list[str]:
        return self._steps.continuous

    @property
    def _names(self) -> list[str]:
        return [*self._deployed, *BY_HAND]

    def _continuous(
        self, cluster: Runner, name: str, report: Mapping[str, Any], steps: Sequence[Step], state: str
    ) -> Job:
        progress = {key: report[key] for key in PROGRESS if key in report}
        return replace(cluster.continuous(name, report.get("at"), steps, state), progress=progress)

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
        self._steps.cluster().accepted(id, report, SUBMIT_WITHIN_S)
        return next(one for one in self.all() if one.name == name)

    def stop(self, name: str, report: Report) -> Job:
        cluster = self._steps.cluster()
        if name in self._names:
            cluster.stopped(self._steps.stop(name), report, STOP_WITHIN_S)
            return next(one for one in self.all() if one.name == name)
        step = self._step(name)
        if not step.done:
            cluster.cancel(step.id)
        return _once(cluster.step(step.id))

    def log(self, name: str, lines: int) -> list[str]:
        step = self._step(name)
        found = self._steps.cluster().log(step.id)
        if not found:
            raise LakeError(
                "no log on S3 yet",
                f"step {step.id} ({step.name})",
                f"EMR copies it within {self._steps.cluster().log_within_s:.0f} s",
            )
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
