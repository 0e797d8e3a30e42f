"""ECS: moto's, with tasks that run on Fargate and end. No container runs."""

from typing import Any
from uuid import uuid4

from tests.emulated_account.clients import ACCOUNT
from tests.emulated_account.services.service import Answer, Service


class Ecs(Service):
    name, signed = "ecs", "ecs"

    def __init__(self, clients: Any) -> None:
        super().__init__(clients)
        self.tasks: dict[str, Answer] = {}  # by ARN

    def run_task(self, region: str, wish: Answer) -> Answer:
        ecs, network = self.clients("ecs", region), wish["networkConfiguration"]["awsvpcConfiguration"]
        self.clients("ec2", region).describe_subnets(SubnetIds=network["subnets"])
        self.clients("ec2", region).describe_security_groups(GroupIds=network["securityGroups"])
        definition = ecs.describe_task_definition(taskDefinition=wish["taskDefinition"])["taskDefinition"]
        cluster = wish["cluster"].rpartition("/")[2]
        arn = f"arn:aws:ecs:{region}:{ACCOUNT}:task/{cluster}/{uuid4().hex}"
        self.tasks[arn] = {
            "taskArn": arn,
            "taskDefinitionArn": wish["taskDefinition"],
            "lastStatus": "PENDING",
            "containers": [{"name": one["name"]} for one in definition["containerDefinitions"]],
        }
        return {"tasks": [self.tasks[arn]], "failures": []}

    def describe_tasks(self, _: str, wish: Answer) -> Answer:
        """Ended at the first look."""
        found = [self.tasks[arn] for arn in wish["tasks"] if arn in self.tasks]
        ended = [{**one, "containers": [{**each, "exitCode": 0} for each in one["containers"]]} for one in found]
        return {"tasks": [{**one, "lastStatus": "STOPPED"} for one in ended], "failures": []}
