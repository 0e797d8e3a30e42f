"""Teardown: refused if protected, shown before it starts, and checked by a new list of resources."""

from collections import Counter
from collections.abc import Callable

from lake.config.errors import BadInput, LakeError
from lake.config.report import Report
from lake.deployments.deployment import Deployment, Resource

Confirm = Callable[[str], bool]
REFUSED = "it was not confirmed"


def refuse_protected(deployment: Deployment) -> None:
    """BadInput for an environment with `protected: true`."""
    if deployment.protected:
        now = "write protected: false there, deploy, and run this again"
        raise BadInput(f"{deployment.name} is protected", f"environments/{deployment.name}.yaml, key protected", now)


def plan(deployment: Deployment, keep_data: bool) -> list[tuple[Resource, bool]]:
    """All resources, each with whether it is deleted."""
    return [(item, not deployment.is_retained(item, keep_data)) for item in deployment.resources()]


def described(planned: list[tuple[Resource, bool]]) -> list[str]:
    """Lines that say what is deleted. Resources of one kind without data are counted."""
    plain = Counter(f"{item.where}: {item.kind}" for item, goes in planned if goes and not item.lost)
    lines = [
        f"deletes {item.where}: {item.kind} {item.name}; LOST: {item.lost}"
        for item, goes in planned
        if goes and item.lost
    ]
    lines += [f"deletes {kind} (x {count})" if count > 1 else f"deletes {kind}" for kind, count in plain.items()]
    return lines + [f"keeps   {item.where}: {item.kind} {item.name}" for item, goes in planned if not goes]


def teardown(deployment: Deployment, keep_data: bool, report: Report, confirm: Confirm) -> list[Resource]:
    """The resources that are left on purpose. LakeError if the user did not confirm, or if others are left."""
    refuse_protected(deployment)
    planned = plan(deployment, keep_data)
    going = [item for item, goes in planned if goes]
    if not going:
        report(f"{deployment.name}: there is nothing to delete")
        return prove(deployment, keep_data)
    for line in described(planned):
        report(line)
    if not confirm(f"Delete {len(going)} resources of the lake {deployment.name}?"):
        raise LakeError(REFUSED, f"teardown of {deployment.name}", "nothing was changed; --yes confirms in scripts")
    deployment.destroy(keep_data, report)
    return prove(deployment, keep_data)


def prove(deployment: Deployment, keep_data: bool) -> list[Resource]:
    """Lists the resources again."""
    left = deployment.resources()
    wrong = [item for item in left if not deployment.is_retained(item, keep_data)]
    if wrong:
        named = ", ".join(f"{item.kind} {item.name}" for item in wrong[:5])
        what = f"{len(wrong)} resources are left: {named}"
        raise LakeError(what, f"teardown of {deployment.name}", "run it again; it continues from here")
    return left
