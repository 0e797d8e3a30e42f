"""Services that only functions of ours call: what each operation needs, by the service authorization reference."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from iam.roles import ACCOUNT, Stacks
from tests.rights.endpoint import Rights

Wish = dict[str, Any]
Answer = Callable[[Wish], tuple[Rights, dict[str, Any]]]
APPLICATION = f"arn:aws:emr-serverless:{{region}}:{ACCOUNT}:/applications/"
CLUSTER = f"arn:aws:elasticmapreduce:{{region}}:{ACCOUNT}:cluster/"
LONG_AGO = datetime.now(UTC) - timedelta(hours=7)  # longer than a job that failed too often is left alone


class Services:
    """EMR Serverless with a run of each job, a cluster whose jobs have failed, and ECS.

    jobs: their names. tag: of the lake, by which its applications are known.
    """

    def __init__(self, stacks: Stacks, jobs: list[str], environment: str) -> None:
        self._jobs, self._running, self._started = jobs, {f"of-{job}": job for job in jobs}, True
        self._tag = {"aws:ResourceTag/lake": environment}
        self._passed = dict(_task_roles(stacks))

    def answers(self) -> dict[str, Answer]:
        return {
            **{name: self._of_application(name, act) for name, act in self._acts().items()},
            "StartJobRun": self._start,
            "DescribeCluster": self._of_cluster({"Cluster": {"Id": "j-1", "Status": {"State": "WAITING"}}}),
            "ListSteps": lambda wish: self._of_cluster({"Steps": self._steps()}, "ListSteps")(wish),
            "AddJobFlowSteps": self._of_cluster({"StepIds": ["s-1"]}, "AddJobFlowSteps"),
            "RunTask": self._run_task,
            "DescribeTasks": self._describe_tasks,
        }

    def _acts(self) -> dict[str, Callable[[Wish], dict[str, Any]]]:
        return {
            "ListJobRuns": self._list,
            "CancelJobRun": self._cancel,
            "GetApplication": lambda _: {"application": {"state": "STARTED" if self._started else "STOPPED"}},
            "StopApplication": self._stop,
        }

    def _of_application(self, name: str, act: Callable[[Wish], dict[str, Any]]) -> Answer:
        def answer(wish: Wish) -> tuple[Rights, dict[str, Any]]:
            run = f"/jobruns/{wish['jobRunId']}" if "jobRunId" in wish else ""
            resource = f"{APPLICATION}{wish['applicationId']}{run}"
            return [(f"emr-serverless:{name}", resource, self._tag)], act(wish)

        return answer

    def _list(self, _: Wish) -> dict[str, Any]:
        return {"jobRuns": [{"id": id, "name": job, "state": "RUNNING"} for id, job in self._running.items()]}

    def _cancel(self, wish: Wish) -> dict[str, Any]:
        del self._running[wish["jobRunId"]]
        return {"applicationId": wish["applicationId"], "jobRunId": wish["jobRunId"]}

    def _stop(self, _: Wish) -> dict[str, Any]:
        self._started = False
        return {}

    def _start(self, wish: Wish) -> tuple[Rights, dict[str, Any]]:
        """Its tags and its role are checked, too. The run ends at once."""
        application = f"{APPLICATION}{wish['applicationId']}"
        named = {f"aws:RequestTag/{key}": value for key, value in wish["tags"].items()}
        rights: Rights = [
            ("emr-serverless:StartJobRun", application, self._tag),
            ("emr-serverless:TagResource", f"{application}/jobruns/new", named),
            ("iam:PassRole", wish["executionRoleArn"], {"iam:PassedToService": "emr-serverless.amazonaws.com"}),
        ]
        return rights, {"applicationId": wish["applicationId"], "jobRunId": "new", "arn": f"{application}/jobruns/new"}

    def _of_cluster(self, result: dict[str, Any], name: str = "DescribeCluster") -> Answer:
        return lambda wish: (
            [(f"elasticmapreduce:{name}", CLUSTER + (wish.get("ClusterId") or wish["JobFlowId"]), {})],
            result,
        )

    def _steps(self) -> list[dict[str, Any]]:
        times = {"CreationDateTime": LONG_AGO, "EndDateTime": LONG_AGO}
        status, config = {"State": "FAILED", "Timeline": times}, {"Jar": "command-runner.jar", "Args": []}
        return [{"Id": f"s-{job}", "Name": job, "Status": status, "Config": config} for job in self._jobs]

    def _run_task(self, wish: Wish) -> tuple[Rights, dict[str, Any]]:
        definition, task = wish["taskDefinition"], f"{wish['cluster'].replace(':cluster/', ':task/')}/t-1"
        passed = [
            ("iam:PassRole", arn, {"iam:PassedToService": "ecs-tasks.amazonaws.com"})
            for arn in self._passed[definition]
        ]
        return [("ecs:RunTask", definition, {"ecs:cluster": wish["cluster"]}), *passed], {"tasks": [{"taskArn": task}]}

    def _describe_tasks(self, wish: Wish) -> tuple[Rights, dict[str, Any]]:
        found = [
            {"taskArn": one, "lastStatus": "STOPPED", "containers": [{"name": "c", "exitCode": 0}]}
            for one in wish["tasks"]
        ]
        rights: Rights = [("ecs:DescribeTasks", one, {"ecs:cluster": wish["cluster"]}) for one in wish["tasks"]]
        return rights, {"tasks": found}


def _task_roles(stacks: Stacks) -> list[tuple[str, list[str]]]:
    """The roles that a task is given, by the ARN of its definition."""
    return [
        (
            stacks.resolve(stack, {"Ref": id}),
            [stacks.resolve(stack, properties[name]) for name in ("TaskRoleArn", "ExecutionRoleArn")],
        )
        for stack, id, properties in stacks.of_type("AWS::ECS::TaskDefinition")
    ]
