"""The repository that `cdk bootstrap` makes."""

from collections.abc import Mapping
from typing import Any

from tests.emulated_account.resources.kind import Kind, Made, Properties


class Repository(Kind):
    type, service = "AWS::ECR::Repository", "ecr"

    def create(self, properties: Properties) -> Made:
        name = properties["RepositoryName"]
        lifecycle, policy = properties["LifecyclePolicy"], properties["RepositoryPolicyText"]
        answer = self.call("create_repository", properties.rest(), repositoryName=name)["repository"]
        text = lifecycle["LifecyclePolicyText"]
        self.call("put_lifecycle_policy", repositoryName=name, lifecyclePolicyText=text)
        self.call("set_repository_policy", repositoryName=name, policyText=policy)
        return Made(name, {"Arn": answer["repositoryArn"], "RepositoryUri": answer["repositoryUri"]})

    def delete(self, made: Made, properties: Mapping[str, Any]) -> None:
        self.client.delete_repository(repositoryName=made.id)
