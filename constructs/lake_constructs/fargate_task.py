"""A task on Fargate whose containers run one after the other, as the containers of a pod do that prepare another."""

import re
from collections.abc import Mapping, Sequence
from functools import cache, partial

from aws_cdk import Aws
from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from constructs import Construct

SHARED, SCRATCH = "/run/lake", "/tmp"
HOST = r"(?P<account>\d{12})\.dkr\.ecr\.(?P<region>[a-z0-9-]+)\.amazonaws\.com(\.cn)?"
ECR = re.compile(HOST + r"/(?P<name>[^:@]+):(?P<tag>[^@]+)(@(?P<digest>.+))?")


class FargateTask(ecs.FargateTaskDefinition):
    """Its containers share the files below /run/lake, on Fargate's own encrypted disk, until the task ends.

    The first one, which runs as root, gives these files to the user of the others. Each other one starts once the one
    before it ended with 0. The last one is the program: the task ends with it.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        statements: Sequence[iam.PolicyStatement],
        log_group: logs.ILogGroup,
        user: str,
        cpu: int,
        memory_mb: int,
    ) -> None:
        super().__init__(scope, id, cpu=cpu, memory_limit_mib=memory_mb)
        self._logs, self._user = log_group, user
        self._image = cache(partial(image_of, self))  # one repository for all containers of an image
        self._last: ecs.ContainerDefinition | None = None
        for name in (SHARED, SCRATCH):
            self.add_volume(name=_volume(name))
        for statement in statements:
            self.add_to_task_role_policy(statement)

    @property
    def roles(self) -> list[iam.IRole]:
        """What its programs may do, and what ECS may do to start them."""
        return [one for one in (self.task_role, self.execution_role) if one]

    def fetch(self, image: str, script: str, environment: Mapping[str, str]) -> None:
        """The first container: a shell script for files of the others."""
        own = f"umask 077\ncd {SHARED}\n{script}\nchown -R {self._user} {SHARED}\nchmod 1777 {SCRATCH}\n"
        self._add("fetch", image, ["/bin/sh", "-ec", own], environment, "0", last=False)

    def step(self, name: str, image: str, command: Sequence[str], *, last: bool = False) -> ecs.ContainerDefinition:
        return self.program(name, image, command, {}, last=last)

    def program(
        self, name: str, image: str, command: Sequence[str], environment: Mapping[str, str], *, last: bool = True
    ) -> ecs.ContainerDefinition:
        """command: instead of the image's own, if there is one."""
        return self._add(name, image, command, {"HOME": SCRATCH, **environment}, self._user, last=last)

    def _add(
        self, name: str, image: str, command: Sequence[str], environment: Mapping[str, str], user: str, *, last: bool
    ) -> ecs.ContainerDefinition:
        container = self.add_container(
            name,
            image=self._image(image),
            entry_point=list(command) or None,
            environment=dict(environment),
            essential=last,
            user=user,
            readonly_root_filesystem=True,
            working_directory=SHARED,
            logging=ecs.LogDrivers.aws_logs(stream_prefix=name, log_group=self._logs),
        )
        for path in (SHARED, SCRATCH):
            container.add_mount_points(
                ecs.MountPoint(container_path=path, source_volume=_volume(path), read_only=False)
            )
        if self._last:
            condition = ecs.ContainerDependencyCondition.SUCCESS
            container.add_container_dependencies(ecs.ContainerDependency(container=self._last, condition=condition))
        self._last = container
        return container


def image_of(scope: Construct, reference: str) -> ecs.ContainerImage:
    """An image by its reference. A registry on ECR gives it to roles that may pull it; public ones give it to all."""
    found = ECR.fullmatch(reference)
    if found is None:
        return ecs.ContainerImage.from_registry(reference)
    arn = f"arn:{Aws.PARTITION}:ecr:{found['region']}:{found['account']}:repository/{found['name']}"
    repository = ecr.Repository.from_repository_attributes(
        scope, f"Repository-{found['name'].replace('/', '-')}", repository_arn=arn, repository_name=found["name"]
    )
    return ecs.ContainerImage.from_ecr_repository(repository, found["digest"] or found["tag"])


def _volume(path: str) -> str:
    return path.strip("/").replace("/", "-")
