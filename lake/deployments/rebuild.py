"""Rebuild: deletes the lake, deploys it again, loads and verifies it. Interrupted, it continues where it was."""

from typing import Any

from lake.config.errors import in_the_middle
from lake.config.report import Report
from lake.deployments.deployment import Deployment
from lake.deployments.teardown import Confirm, refuse_protected, teardown

VERIFY_WITHIN_S = 900.0


def rebuild(deployment: Deployment, report: Report, confirm: Confirm) -> dict[str, Any]:
    """The result of the verification at the end. LakeError if the user did not confirm."""
    refuse_protected(deployment)
    deployment.check_build()
    if deployment.rebuilding():
        report(f"{deployment.name}: continues the rebuild that was interrupted")
    else:
        teardown(deployment, False, report, confirm)
        deployment.mark_rebuilding(True)
    with in_the_middle(f"lake rebuild --env {deployment.name}"):
        deployment.build(report)
        result = deployment.verify([], VERIFY_WITHIN_S, report)
    if result["equal"]:
        deployment.mark_rebuilding(False)
    return result
